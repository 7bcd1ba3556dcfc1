//! Which suites and recordings did a git revision contain? They are written to a temporary folder. Neither the work
//! tree nor the index is read.

use mcptest_files as files;
use mcptest_process::{Started, start};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

/// The time limit for git.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why the files of a revision cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// Git does not start, or ends with an error.
    #[error("git cannot read the revision: {0}")]
    Git(String),
    /// The files cannot be laid out.
    #[error("cannot write the files of the revision: {}", files::reason(.0))]
    Disk(#[from] std::io::Error),
    /// Git takes too long.
    #[error("git did not return the files of the revision within {} s", PATIENCE.as_secs())]
    Slow,
}

/// Returns true if git knows this as a revision here. False without git or a repository.
pub fn is_revision(name: &str) -> bool {
    commit_of(name).is_ok()
}

/// The files of a revision below the folder we are in.
#[derive(Debug)]
pub struct Revision {
    folder: TempDir,
}

impl Revision {
    /// Lays out the files of this revision.
    pub fn open(name: &str) -> Result<Self, RevisionError> {
        let commit = commit_of(name)?;
        let folder = tempfile::Builder::new().prefix("mcptest-").tempdir()?;
        let listed = wait(output(&["ls-tree", "-r", "-z", &commit]))?;
        let blobs: Vec<Blob> = listed
            .split(|byte| *byte == 0)
            .filter_map(Blob::read)
            .collect();
        wait(lay_out(&blobs, folder.path()))?;
        Ok(Self { folder })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// A file of a tree.
struct Blob {
    id: String,
    path: PathBuf,
}

impl Blob {
    /// Reads a line of `git ls-tree`: `100644 blob ID<tab>PATH`. Links and submodules are not files, and a path must
    /// stay below.
    fn read(line: &[u8]) -> Option<Self> {
        let (about, path) = std::str::from_utf8(line).ok()?.split_once('\t')?;
        let [mode, "blob", id] = about.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let path = PathBuf::from(path);
        let stays = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        (mode.starts_with("100") && stays).then(|| Self {
            id: id.to_owned(),
            path,
        })
    }
}

fn commit_of(name: &str) -> Result<String, RevisionError> {
    let commit = format!("{name}^{{commit}}");
    let said = wait(output(&[
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &commit,
    ]))?;
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

/// Waits for git with a time limit.
fn wait<T>(doing: impl Future<Output = Result<T, RevisionError>>) -> Result<T, RevisionError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        timeout(PATIENCE, doing)
            .await
            .unwrap_or(Err(RevisionError::Slow))
    })
}

fn words(arguments: &[&str]) -> Vec<String> {
    ["git"]
        .iter()
        .chain(arguments)
        .map(|word| (*word).to_owned())
        .collect()
}

/// The standard output of git, if it succeeds.
async fn output(arguments: &[&str]) -> Result<Vec<u8>, RevisionError> {
    let git = |error: &dyn std::fmt::Display| RevisionError::Git(error.to_string());
    let (child, Started { stdin, mut stdout }) =
        start(&words(arguments), &[], None).map_err(|error| git(&error))?;
    drop(stdin);
    let mut bytes = Vec::new();
    stdout.read_to_end(&mut bytes).await?;
    let is_well = child.exited().await.is_some_and(|status| status.success());
    let said = child.stderr().tail();
    child.end_soon().await;
    if is_well {
        Ok(bytes)
    } else {
        Err(git(&said.trim()))
    }
}

/// Writes the files of a tree in git's order.
async fn lay_out(blobs: &[Blob], folder: &Path) -> Result<(), RevisionError> {
    let git = |error: &dyn std::fmt::Display| RevisionError::Git(error.to_string());
    let (child, Started { mut stdin, stdout }) =
        start(&words(&["cat-file", "--batch"]), &[], None).map_err(|error| git(&error))?;
    let ids: String = blobs
        .iter()
        .flat_map(|blob| [blob.id.as_str(), "\n"])
        .collect();
    let asking = tokio::spawn(async move { stdin.write_all(ids.as_bytes()).await });
    let mut stdout = BufReader::new(stdout);
    for blob in blobs {
        let mut head = String::new();
        stdout.read_line(&mut head).await?;
        let size = head
            .trim_end()
            .rsplit(' ')
            .next()
            .and_then(|size| size.parse::<usize>().ok());
        let size =
            size.ok_or_else(|| git(&format!("{}: {}", blob.path.display(), head.trim_end())))?;
        // A line break follows the content.
        let mut content = vec![0; size + 1];
        stdout.read_exact(&mut content).await?;
        content.pop();
        files::write(&folder.join(&blob.path), &content)?;
    }
    asking.abort();
    child.end_soon().await;
    Ok(())
}
