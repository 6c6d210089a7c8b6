//! How far back the past is kept, as the folder of a database says it.
//!
//! # Layout
//! ```text
//!  KEEP  magic: 8 bytes | crc: u32 | format: u32 | kind: u32 | zero: u32 | amount: u64
//!    kind  1 versions, 2 microseconds, 3 bytes, 4 everything; the amount of 4 is 0
//! ```
//!   The checksum is that of what follows it, begun with the checksum of the database's id.
//! # Invariants
//!   - Without the file nothing is kept beyond what recovery needs: so it was before there was one.
//!   - It is replaced as a whole, or removed. A new database has it before it has its name.
//!   - It says what may be removed from now on; what is gone does not come back.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::folder::{self, Folder, corrupt, disk_error};
use crate::io::{Disk, RealDisk};
use crate::options::Keep;
use crate::time::whole_micros;

const NAME: &str = "KEEP";
const MAGIC: [u8; 8] = *b"EVGKEEP1";
const FORMAT: u32 = 1;
const LENGTH: usize = 32;

/// How far back the database in a folder keeps the past. Takes no lock.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no database, [`crate::Error::Corrupt`] if the file that says it is
/// damaged.
pub fn keep_of(path: impl AsRef<Path>) -> Result<Keep> {
    keep_of_on(&(Arc::new(RealDisk) as Arc<dyn Disk>), path)
}

/// As [`keep_of`], on another disk than that of the machine.
///
/// # Errors
/// Those of [`keep_of`].
pub fn keep_of_on(disk: &Arc<dyn Disk>, path: impl AsRef<Path>) -> Result<Keep> {
    read(&Folder::existing(disk, path.as_ref())?)
}

/// Says how far back the database in a folder keeps the past from now on, while nobody has it open.
/// What a smaller choice gives up goes with the next checkpoint; what is gone does not come back.
///
/// ```
/// use evergraph_store::{Database, Keep, keep_of, set_keep};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path();
/// Database::options().keep(Keep::Versions(1000)).open(path)?.close()?;
/// assert_eq!(keep_of(path)?, Keep::Versions(1000));
/// set_keep(path, Keep::Everything)?;
/// assert_eq!(Database::open(path)?.keep(), Keep::Everything);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`crate::Error::NotFound`], [`crate::Error::Locked`] if somebody has it open, and those of the disk.
pub fn set_keep(path: impl AsRef<Path>, keep: Keep) -> Result<()> {
    set_keep_on(&(Arc::new(RealDisk) as Arc<dyn Disk>), path, keep)
}

/// As [`set_keep`], on another disk than that of the machine.
///
/// # Errors
/// Those of [`set_keep`].
pub fn set_keep_on(disk: &Arc<dyn Disk>, path: impl AsRef<Path>, keep: Keep) -> Result<()> {
    let path = path.as_ref();
    let folder = Folder::existing(disk, path)?;
    let _lock = folder::lock(&**disk, path, false)?;
    write(&folder, keep)
}

/// What the folder says.
pub(crate) fn read(folder: &Folder) -> Result<Keep> {
    let path = folder.path.join(NAME);
    let opened = match folder.disk.open(&path, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Keep::Nothing),
        opened => opened.map_err(|error| disk_error("open", &path, &error))?,
    };
    let bytes = opened.read_from(0).map_err(|error| disk_error("read", &path, &error))?;
    decode(folder.id, &bytes).map_err(|reason| corrupt(&path, 0, reason))
}

/// Has the folder say it.
pub(crate) fn write(folder: &Folder, keep: Keep) -> Result<()> {
    if let Some(bytes) = encode(folder.id, keep) {
        folder.write_whole(NAME, |file| file.write_all_at(&bytes, 0).map(|()| LENGTH as u64))?;
        return Ok(());
    }
    let path = folder.path.join(NAME);
    match folder.disk.remove(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => {
            removed.map_err(|error| disk_error("remove", &path, &error))?;
            folder.sync()
        }
    }
}

/// The bytes of the file; none if there is to be none.
fn encode(id: [u8; 16], keep: Keep) -> Option<[u8; LENGTH]> {
    let (kind, amount) = match keep {
        Keep::Nothing => return None,
        Keep::Versions(versions) => (1u32, versions),
        Keep::Time(age) => (2, whole_micros(age)),
        Keep::Bytes(bytes) => (3, bytes),
        Keep::Everything => (4, 0),
    };
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[12..16].copy_from_slice(&FORMAT.to_le_bytes());
    bytes[16..20].copy_from_slice(&kind.to_le_bytes());
    bytes[24..].copy_from_slice(&amount.to_le_bytes());
    let crc = checksum(id, &bytes);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    Some(bytes)
}

fn checksum(id: [u8; 16], bytes: &[u8; LENGTH]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&id), &bytes[12..])
}

fn decode(id: [u8; 16], bytes: &[u8]) -> Result<Keep, String> {
    let bytes: &[u8; LENGTH] =
        bytes.try_into().map_err(|_| format!("it is {} bytes long, not {LENGTH}", bytes.len()))?;
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    if bytes[..8] != MAGIC {
        return Err("it does not begin like one of Evergraph".into());
    }
    if number(8) != checksum(id, bytes) {
        return Err("its checksum is wrong, or it belongs to another database".into());
    }
    if number(12) != FORMAT {
        return Err(format!("it has format {}, this program knows {FORMAT}", number(12)));
    }
    let amount = u64::from_le_bytes(bytes[24..].try_into().expect("eight bytes"));
    match (number(16), amount) {
        (1, versions) => Ok(Keep::Versions(versions)),
        (2, micros) => Ok(Keep::Time(Duration::from_micros(micros))),
        (3, bytes) => Ok(Keep::Bytes(bytes)),
        (4, 0) => Ok(Keep::Everything),
        _ => Err("it says what this program does not know".into()),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const ALL: [Keep; 4] = [
        Keep::Versions(1000),
        Keep::Time(Duration::from_hours(24)),
        Keep::Bytes(2 << 30),
        Keep::Everything,
    ];

    #[test]
    fn what_is_kept_can_be_read_back_for_its_own_database_only() {
        for keep in ALL {
            let bytes = encode([7; 16], keep).expect("it is something");
            assert_eq!(decode([7; 16], &bytes), Ok(keep));
            assert!(decode([8; 16], &bytes).is_err());
        }
        assert_eq!(encode([7; 16], Keep::Nothing), None);
    }

    #[test]
    fn any_bit_turned_is_seen() {
        let bytes = encode([7; 16], Keep::Versions(5)).expect("it is something");
        for bit in 0..8 * LENGTH {
            let mut turned = bytes;
            turned[bit / 8] ^= 1 << (bit % 8);
            assert!(decode([7; 16], &turned).is_err(), "bit {bit}");
        }
        assert!(decode([7; 16], &bytes[..LENGTH - 1]).is_err());
    }
}
