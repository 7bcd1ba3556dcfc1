//! Which JSON documents does a log of Inspect in the format `.eval`, a ZIP archive, contain?

use flate2::Crc;
use flate2::read::DeflateDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::collections::BTreeMap;
use std::io::{self, Read};
use thiserror::Error;

/// The most bytes of all documents of an archive. A small archive can be made to unpack without end.
const MOST_BYTES: u64 = 2 << 30;

/// The signatures of the parts of an archive.
const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";

/// The length of the last part of an archive without its comment, and the longest comment.
const END_LENGTH: usize = 22;
const LONGEST_COMMENT: usize = 0xffff;

/// Why an archive cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArchiveFault {
    /// Its list of files is cut off or damaged.
    #[error("the archive was cut off or is damaged; copy it again")]
    Damaged,
    /// A file in it is damaged.
    #[error("`{0}` in the archive is damaged; copy the archive again")]
    DamagedFile(String),
    /// A file in it is compressed in another way.
    #[error(
        "`{name}` in the archive is encrypted or has the unknown compression method {method}; \
         convert the log with `inspect log convert --to json`"
    )]
    UnknownMethod {
        /// The file.
        name: String,
        /// The number of the method.
        method: u16,
    },
    /// Its files are larger than the limit.
    #[error("the archive contains more than {} GiB", MOST_BYTES >> 30)]
    TooLarge,
    /// It has no samples.
    #[error("the archive has no `samples/`; mcptest reads ZIP archives that Inspect wrote")]
    NoSamples,
}

/// Returns true if a file begins like a ZIP archive.
pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(LOCAL)
}

/// The documents of a log of Inspect, in order: its header, then its samples.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, ArchiveFault> {
    let mut files = BTreeMap::new();
    let mut samples = Vec::new();
    for entry in entries(bytes)? {
        if entry.name.starts_with("samples/") && !files.contains_key(&entry.name) {
            samples.push(entry.name.clone());
        }
        // Of two files with one name, the later counts.
        files.insert(entry.name.clone(), entry);
    }
    if samples.is_empty() {
        return Err(ArchiveFault::NoSamples);
    }
    let header = ["header.json", "_journal/start.json"];
    let header = header.iter().find_map(|name| files.get(*name));
    let samples = samples.iter().filter_map(|name| files.get(name));
    let mut unpacked = Vec::new();
    for entry in header.into_iter().chain(samples) {
        entry.unpack_into(bytes, &mut unpacked)?;
        unpacked.push(b'\n');
    }
    Ok(unpacked)
}

/// A file in an archive.
struct Entry {
    name: String,
    method: u16,
    is_encrypted: bool,
    checksum: u32,
    packed: usize,
    /// The place of the file.
    offset: usize,
}

/// The files that the list at the end of an archive names.
fn entries(bytes: &[u8]) -> Result<Vec<Entry>, ArchiveFault> {
    let first = bytes.len().saturating_sub(END_LENGTH + LONGEST_COMMENT);
    let end = bytes[first..]
        .windows(END.len())
        .rposition(|window| window == END)
        .ok_or(ArchiveFault::Damaged)?;
    let end = first + end;
    let end = Part(
        bytes
            .get(end..end + END_LENGTH)
            .ok_or(ArchiveFault::Damaged)?,
    );
    let (count, offset) = (end.short(10)?, end.long(16)?);
    let mut rest = bytes.get(offset..).ok_or(ArchiveFault::Damaged)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let part = Part(rest);
        if !rest.starts_with(CENTRAL) {
            return Err(ArchiveFault::Damaged);
        }
        let name_length = usize::from(part.short(28)?);
        let others = usize::from(part.short(30)?) + usize::from(part.short(32)?);
        let name = rest
            .get(46..46 + name_length)
            .ok_or(ArchiveFault::Damaged)?;
        entries.push(Entry {
            name: String::from_utf8_lossy(name).into_owned(),
            is_encrypted: part.short(8)? & 1 == 1,
            method: part.short(10)?,
            checksum: part.word(16)?,
            packed: part.long(20)?,
            offset: part.long(42)?,
        });
        rest = rest
            .get(46 + name_length + others..)
            .ok_or(ArchiveFault::Damaged)?;
    }
    Ok(entries)
}

impl Entry {
    fn unpack_into(&self, archive: &[u8], unpacked: &mut Vec<u8>) -> Result<(), ArchiveFault> {
        let damaged = || ArchiveFault::DamagedFile(self.name.clone());
        let local = archive.get(self.offset..).ok_or_else(damaged)?;
        let part = Part(local);
        if !local.starts_with(LOCAL) {
            return Err(damaged());
        }
        let start = 30 + usize::from(part.short(26)?) + usize::from(part.short(28)?);
        let packed = start
            .checked_add(self.packed)
            .and_then(|end| local.get(start..end))
            .ok_or_else(damaged)?;
        let before = unpacked.len();
        let left = MOST_BYTES.saturating_sub(before as u64);
        let unpacking = match self.method {
            _ if self.is_encrypted => return Err(self.unknown_method()),
            0 => copy(packed, left, unpacked),
            8 => copy(DeflateDecoder::new(packed), left, unpacked),
            93 => match StreamingDecoder::new(packed) {
                Ok(decoder) => copy(decoder, left, unpacked),
                Err(_) => return Err(damaged()),
            },
            _ => return Err(self.unknown_method()),
        };
        unpacking.map_err(|_| damaged())?;
        if unpacked.len() as u64 > MOST_BYTES {
            return Err(ArchiveFault::TooLarge);
        }
        let mut crc = Crc::new();
        crc.update(&unpacked[before..]);
        if crc.sum() == self.checksum {
            Ok(())
        } else {
            Err(damaged())
        }
    }

    fn unknown_method(&self) -> ArchiveFault {
        ArchiveFault::UnknownMethod {
            name: self.name.clone(),
            method: self.method,
        }
    }
}

/// Reads to the end, or one byte more than are left.
fn copy(from: impl Read, left: u64, into: &mut Vec<u8>) -> io::Result<usize> {
    from.take(left + 1).read_to_end(into)
}

/// A part of an archive, whose numbers are written with the lowest byte first.
struct Part<'a>(&'a [u8]);

impl Part<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N], ArchiveFault> {
        let found = self.0.get(at..at + N);
        found
            .and_then(|found| found.try_into().ok())
            .ok_or(ArchiveFault::Damaged)
    }

    fn short(&self, at: usize) -> Result<u16, ArchiveFault> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn word(&self, at: usize) -> Result<u32, ArchiveFault> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn long(&self, at: usize) -> Result<usize, ArchiveFault> {
        usize::try_from(self.word(at)?).map_err(|_| ArchiveFault::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use std::io::Write;

    fn checksum(text: &[u8]) -> u32 {
        let mut crc = Crc::new();
        crc.update(text);
        crc.sum()
    }

    /// An archive of one file, whose list says this of it.
    fn archive(name: &str, packed: &[u8], method: u16, checksum: u32) -> Vec<u8> {
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let packed_length = u32::try_from(packed.len()).unwrap().to_le_bytes();
        let mut bytes = [LOCAL, &[0; 22], &length, &[0; 2], name.as_bytes(), packed].concat();
        let list = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let (method, checksum) = (method.to_le_bytes(), checksum.to_le_bytes());
        let about: [&[u8]; 8] = [
            CENTRAL,
            &[0; 6],
            &method,
            &[0; 4],
            &checksum,
            &packed_length,
            &[0; 4],
            &length,
        ];
        bytes.extend(about.concat());
        bytes.extend([0; 16]);
        bytes.extend(name.as_bytes());
        bytes.extend([END, &[0; 6], &[1, 0], &[0; 4], &list, &[0; 2]].concat());
        bytes
    }

    fn deflated(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_stored_and_a_deflated_sample_are_unpacked() {
        let text = b"{\"epoch\": 1}";
        let stored = archive("samples/1.json", text, 0, checksum(text));
        assert_eq!(unpack(&stored).unwrap(), b"{\"epoch\": 1}\n");
        let packed = archive("samples/1.json", &deflated(text), 8, checksum(text));
        assert_eq!(unpack(&packed).unwrap(), b"{\"epoch\": 1}\n");
    }

    #[test]
    fn an_archive_that_is_damaged_or_of_another_kind_is_refused_with_the_reason() {
        let text = b"{}";
        let told = |bytes: &[u8]| unpack(bytes).unwrap_err().to_string();
        let wrong = archive("samples/1.json", text, 0, 7);
        assert!(told(&wrong).starts_with("`samples/1.json` in the archive is damaged"));
        let unknown = archive("samples/1.json", text, 14, checksum(text));
        assert!(told(&unknown).contains("unknown compression method 14"));
        let other = archive("report.txt", text, 0, checksum(text));
        assert!(told(&other).starts_with("the archive has no `samples/`"));
        let whole = archive("samples/1.json", &deflated(text), 8, checksum(text));
        for end in 0..whole.len() {
            assert!(unpack(&whole[..end]).is_err(), "{end}");
        }
    }
}
