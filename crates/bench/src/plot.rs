//! Charts: throughput and memory over time, and the ratios of kernels with what is wanted.

use std::error::Error as AnyError;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::{Report, Row, Series};
use crate::{Error, Result, targets};

/// Width and height in pixels.
const SIZE: (u32, u32) = (1000, 520);
const FONT: &str = "sans-serif";
/// Told apart by people who see fewer colours, too (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
];

/// What drawing may fail with.
type Drawn = Result<(), Box<dyn AnyError>>;

/// Draws a chart of everything that was measured and can be drawn, into a folder.
pub(crate) fn draw(report: &Report, folder: &Path) -> Result<()> {
    let on_file = |name: &str, draw: &dyn Fn(&Canvas<'_>) -> Drawn| {
        let path = folder.join(name);
        let canvas = SVGBackend::new(&path, SIZE).into_drawing_area();
        let drawn = canvas.fill(&WHITE).map_err(Into::into).and_then(|()| draw(&canvas));
        let drawn = drawn.and_then(|()| Ok(canvas.present()?));
        drop(canvas);
        drawn.map_err(|error| Error::Plot { path: path.clone(), message: error.to_string() })
    };
    if !report.throughput.is_empty() {
        let lines = Lines { title: "Updates over time", unit: "updates per second" };
        on_file("throughput.svg", &|canvas| lines.draw(canvas, &report.throughput))?;
    }
    if !report.memory.is_empty() {
        let lines = Lines { title: "Memory over time", unit: "bytes per entry" };
        on_file("memory.svg", &|canvas| lines.draw(canvas, &report.memory))?;
    }
    let ratios: Vec<&Row> =
        report.rows.iter().filter(|row| row.baseline == Some("csr") && row.unit == "s").collect();
    if !ratios.is_empty() {
        on_file("ratios.svg", &|canvas| draw_ratios(canvas, &ratios))?;
    }
    Ok(())
}

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The greatest of some numbers, with room above; at least 1.
fn top(values: impl Iterator<Item = f64>) -> f64 {
    const ROOM: f64 = 1.1;
    ROOM * values.fold(1.0, f64::max)
}

/// Lines over seconds.
struct Lines {
    title: &'static str,
    unit: &'static str,
}

impl Lines {
    fn draw(&self, canvas: &Canvas<'_>, series: &[Series]) -> Drawn {
        let points = || series.iter().flat_map(|series| &series.points);
        let (right, top) = (top(points().map(|point| point.0)), top(points().map(|point| point.1)));
        let mut chart = ChartBuilder::on(canvas)
            .caption(self.title, (FONT, 22))
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(90)
            .build_cartesian_2d(0.0..right, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc("seconds")
            .y_desc(self.unit)
            .light_line_style(WHITE)
            .draw()?;
        for (series, colour) in series.iter().zip(COLOURS.into_iter().cycle()) {
            let line = LineSeries::new(series.points.iter().copied(), colour.stroke_width(2));
            chart.draw_series(line)?.label(&series.name).legend(move |at| swatch(at, colour));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        Ok(())
    }
}

/// The colour of a series beside its name.
fn swatch((x, y): (i32, i32), colour: RGBColor) -> Rectangle<(i32, i32)> {
    Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled())
}

/// A group of bars per kernel, a bar per state; a black line is what is wanted.
fn draw_ratios(canvas: &Canvas<'_>, rows: &[&Row]) -> Drawn {
    let kernels = distinct(rows.iter().map(|row| row.metric.to_owned()));
    let states = distinct(rows.iter().map(|row| state(row)));
    let ratios = rows.iter().flat_map(|row| [row.ratio, targets::ratio_max(row)]);
    let mut chart = ChartBuilder::on(canvas)
        .caption("Time on the live graph / time on a static array", (FONT, 22))
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..kernels.len() as f64, 0.0..top(ratios.flatten()))?;
    chart.configure_mesh().disable_x_mesh().x_labels(0).light_line_style(WHITE).draw()?;
    // Bars take four fifths of a group's width.
    let width = 0.8 / states.len() as f64;
    for (place, (name, colour)) in states.iter().zip(COLOURS.into_iter().cycle()).enumerate() {
        let bars = rows.iter().filter(|row| state(row) == *name).filter_map(|row| {
            let group = kernels.iter().position(|kernel| kernel == row.metric)?;
            let left = group as f64 + 0.1 + place as f64 * width;
            Some((left, row.ratio?, targets::ratio_max(row)))
        });
        let bars: Vec<(f64, f64, Option<f64>)> = bars.collect();
        let bar = |&(left, ratio, _): &(f64, f64, _)| {
            Rectangle::new([(left, 0.0), (left + 0.9 * width, ratio)], colour.filled())
        };
        let drawn = chart.draw_series(bars.iter().map(bar))?;
        drawn.label(name).legend(move |at| swatch(at, colour));
        let wanted = bars.iter().filter_map(|&(left, _, wanted)| {
            let wanted = wanted?;
            let line = vec![(left, wanted), (left + 0.9 * width, wanted)];
            Some(PathElement::new(line, BLACK.stroke_width(2)))
        });
        chart.draw_series(wanted)?;
    }
    let even = [(0.0, 1.0), (kernels.len() as f64, 1.0)];
    chart.draw_series(LineSeries::new(even, BLACK.mix(0.5)))?;
    let middle = Pos::new(HPos::Center, VPos::Top);
    let style = (FONT, 15).into_font().color(&BLACK).pos(middle);
    for (group, kernel) in kernels.iter().enumerate() {
        let (x, y) = chart.plotting_area().map_coordinate(&(group as f64 + 0.5, 0.0));
        canvas.draw(&Text::new(kernel.as_str(), (x, y + 8), style.clone()))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

/// What the bars of a row are called.
fn state(row: &Row) -> String {
    let state = match row.state {
        _ if row.writers > 0 => "beside a writer",
        Some(state) => state.name(),
        None => "",
    };
    let plural = if row.threads == 1 { "" } else { "s" };
    format!("{state}, {} thread{plural}", row.threads)
}

/// Each value once, in the order of their first.
fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
