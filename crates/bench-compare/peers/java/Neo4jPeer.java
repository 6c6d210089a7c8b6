import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Direction;
import org.neo4j.graphdb.GraphDatabaseService;
import org.neo4j.graphdb.Label;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.Relationship;
import org.neo4j.graphdb.RelationshipType;
import org.neo4j.graphdb.Transaction;

/**
 * Serves embedded Neo4j: a request per line on standard input, an answer per line on standard output.
 *
 * <p>The requests and answers are those of src/protocol.rs. An edge is stored once, from its smaller end to
 * its larger one, and every change is a transaction of its own. Vertices are found by the ids that Neo4j
 * gave them, so that no index is asked.
 */
public final class Neo4jPeer {
    private static final Label VERTEX = Label.label("V");
    private static final RelationshipType EDGE = RelationshipType.withName("E");
    /** Vertices per transaction when they are made; not timed. */
    private static final int BATCH = 10_000;
    /** Room for the pages of the store; far more than the graphs that are measured need. */
    private static final long PAGE_CACHE = 1L << 30;

    private final Path folder;
    private DatabaseManagementService service;
    private GraphDatabaseService database;
    private String[] ids;

    private Neo4jPeer(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] args) throws IOException {
        // What Neo4j prints must not get between the answers.
        PrintStream out = System.out;
        System.setOut(System.err);
        ObjectMapper json = new ObjectMapper();
        Neo4jPeer peer = new Neo4jPeer(Path.of(args[0]));
        String version = org.neo4j.kernel.internal.Version.getNeo4jVersion();
        out.println(json.writeValueAsString(Map.of("version", version)));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> reply;
            try {
                reply = Map.of("seconds", peer.step(json.readTree(line)));
            } catch (Exception error) {
                reply = Map.of("error", error.toString());
            }
            out.println(json.writeValueAsString(reply));
            out.flush();
        }
        peer.close();
    }

    private double step(JsonNode request) throws IOException {
        switch (request.get("do").asText()) {
            case "create":
                return create(request.get("vertices").asInt());
            case "update":
                return update(read(Path.of(request.get("updates").asText())));
            case "scan":
                return scan(Path.of(request.get("answer").asText()));
            default:
                throw new IllegalArgumentException("it has no such function");
        }
    }

    private double create(int vertices) throws IOException {
        close();
        long start = System.nanoTime();
        service = new DatabaseManagementServiceBuilder(folder)
                .setConfig(GraphDatabaseSettings.pagecache_memory, PAGE_CACHE)
                .setConfig(GraphDatabaseSettings.keep_logical_logs, "false")
                .setConfig(GraphDatabaseSettings.memory_tracking, false)
                .build();
        database = service.database("neo4j");
        ids = new String[vertices];
        for (int first = 0; first < vertices; first += BATCH) {
            try (Transaction tx = database.beginTx()) {
                for (int v = first; v < Math.min(first + BATCH, vertices); v++) {
                    Node node = tx.createNode(VERTEX);
                    node.setProperty("id", (long) v);
                    ids[v] = node.getElementId();
                }
                tx.commit();
            }
        }
        return seconds(start);
    }

    /** Each change is three numbers: whether it removes, and both ends. */
    private double update(int[] changes) {
        long start = System.nanoTime();
        for (int at = 0; at < changes.length; at += 3) {
            boolean removes = changes[at] == 1;
            int from = Math.min(changes[at + 1], changes[at + 2]);
            int to = Math.max(changes[at + 1], changes[at + 2]);
            try (Transaction tx = database.beginTx()) {
                change(tx, removes, from, to);
                tx.commit();
            }
        }
        return seconds(start);
    }

    private void change(Transaction tx, boolean removes, int from, int to) {
        Node a = tx.getNodeByElementId(ids[from]);
        Node b = tx.getNodeByElementId(ids[to]);
        Relationship edge = find(a, b);
        if ((edge != null) != removes) {
            throw new IllegalStateException("the edge " + from + " " + to + " is there or is not");
        }
        if (removes) {
            edge.delete();
        } else {
            a.createRelationshipTo(b, EDGE);
        }
    }

    /** Looks along the list of the end that has fewer edges. */
    private static Relationship find(Node a, Node b) {
        boolean fromA = a.getDegree(EDGE) <= b.getDegree(EDGE);
        Node near = fromA ? a : b;
        Node far = fromA ? b : a;
        Direction way = fromA ? Direction.OUTGOING : Direction.INCOMING;
        try (var edges = near.getRelationships(way, EDGE)) {
            for (Relationship edge : edges) {
                if (edge.getOtherNode(near).equals(far)) {
                    return edge;
                }
            }
        }
        return null;
    }

    /** The degree of every vertex and the sum of its neighbours. */
    private double scan(Path answer) throws IOException {
        long start = System.nanoTime();
        long[] rows = new long[2 * ids.length];
        try (Transaction tx = database.beginTx(); var edges = tx.getAllRelationships()) {
            for (Relationship edge : edges) {
                int from = (int) (long) (Long) edge.getStartNode().getProperty("id");
                int to = (int) (long) (Long) edge.getEndNode().getProperty("id");
                rows[2 * from]++;
                rows[2 * from + 1] += to;
                rows[2 * to]++;
                rows[2 * to + 1] += from;
            }
        }
        double seconds = seconds(start);
        ByteBuffer bytes = ByteBuffer.allocate(8 * rows.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(rows);
        Files.write(answer, bytes.array());
        return seconds;
    }

    private void close() throws IOException {
        if (service != null) {
            service.shutdown();
            service = null;
        }
        if (Files.exists(folder)) {
            try (var paths = Files.walk(folder)) {
                for (Path path : (Iterable<Path>) paths.sorted(Comparator.reverseOrder())::iterator) {
                    Files.delete(path);
                }
            }
        }
    }

    private static int[] read(Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        int[] numbers = new int[bytes.remaining() / 4];
        bytes.asIntBuffer().get(numbers);
        return numbers;
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
