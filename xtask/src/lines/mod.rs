//! `lines`: how much product code has each crate, without tests, comments and blank lines?

pub(crate) mod count;

use crate::say;
use count::File;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Crates that only tests and tooling use; all others of `crates/` are the product.
const SUPPORT: [&str; 2] = ["fuzz", "provider-stub"];

const PAGE: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- `cargo xtask lines --write` fills this -->\n";
const END: &str = "<!-- end of lines -->\n";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let table = table(&crates()?);
    match arguments {
        [] => say(table.trim_end()),
        [flag] if flag == "--write" => {
            let page = std::fs::read_to_string(PAGE).map_err(|error| format!("{PAGE}: {error}"))?;
            let filled = filled(&page, &table)?;
            std::fs::write(PAGE, filled).map_err(|error| format!("{PAGE}: {error}"))?;
        }
        _ => return Err("usage: cargo xtask lines [--write]".to_owned()),
    }
    Ok(ExitCode::SUCCESS)
}

/// One crate's files outside its tests, and their lines of code.
struct Crate {
    name: String,
    files: usize,
    lines: usize,
}

impl Crate {
    fn is_product(&self) -> bool {
        self.name != "xtask" && !SUPPORT.contains(&self.name.as_str())
    }
}

fn crates() -> Result<Vec<Crate>, String> {
    let entries = std::fs::read_dir("crates").map_err(|error| format!("crates: {error}"))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.push("xtask".into());
    folders.sort();
    folders.iter().map(|folder| measure(folder)).collect()
}

fn measure(folder: &Path) -> Result<Crate, String> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let files = product_files(folder)?;
    Ok(Crate { name, files: files.len(), lines: files.iter().map(|(_, file)| file.lines()).sum() })
}

/// The files of a crate that are compiled without `cfg(test)`, found as the compiler finds them.
pub(crate) fn product_files(folder: &Path) -> Result<Vec<(PathBuf, File)>, String> {
    let roots = ["src/lib.rs", "src/main.rs", "build.rs"].map(|root| folder.join(root));
    let mut waiting: Vec<PathBuf> = roots.into_iter().filter(|root| root.is_file()).collect();
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        let complain = |error: String| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| complain(error.to_string()))?;
        let file = File::read(&text).map_err(complain)?;
        for module in &file.modules {
            waiting.push(
                module_path(&path, module).ok_or_else(|| complain(format!("no file of `mod {module};`")))?,
            );
        }
        files.push((path, file));
    }
    Ok(files)
}

fn module_path(parent: &Path, module: &str) -> Option<PathBuf> {
    let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| parent.ends_with(name));
    let folder = if is_root { parent.parent()?.to_owned() } else { parent.with_extension("") };
    let paths = [folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
    paths.into_iter().find(|path| path.is_file())
}

fn table(crates: &[Crate]) -> String {
    let mut table = String::from("| Crate | Files | Lines of code |\n|---|---:|---:|\n");
    let mut group = |crates: Vec<&Crate>, name: &str| {
        for it in &crates {
            let _ = writeln!(table, "| `{}` | {} | {} |", it.name, it.files, grouped(it.lines));
        }
        let (files, lines) = crates.iter().fold((0, 0), |sum, it| (sum.0 + it.files, sum.1 + it.lines));
        let _ = writeln!(table, "| **{name}** | **{files}** | **{}** |", grouped(lines));
    };
    let (product, support) = crates.iter().partition(|it: &&Crate| it.is_product());
    group(product, "product");
    group(support, "tests and tooling");
    table
}

/// Thousands apart.
fn grouped(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

fn filled(page: &str, table: &str) -> Result<String, String> {
    let (before, rest) = page.split_once(BEGIN).ok_or(format!("{PAGE} has no line {BEGIN}"))?;
    let (_, after) = rest.split_once(END).ok_or(format!("{PAGE} has no line {END}"))?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, Crate, END, filled, table};

    #[test]
    fn the_product_is_summed_apart_from_what_only_tests_use() {
        let named = |name: &str, lines| Crate { name: name.to_owned(), files: 1, lines };
        let table = table(&[named("core", 20_001), named("fuzz", 5), named("run", 999)]);
        assert!(table.contains("| **product** | **2** | **21,000** |\n"), "{table}");
        assert!(
            table.ends_with("| `fuzz` | 1 | 5 |\n| **tests and tooling** | **1** | **5** |\n"),
            "{table}"
        );
    }

    #[test]
    fn the_table_is_written_between_its_marks_and_again_over_itself() {
        let page = format!("before\n{BEGIN}{END}after\n");
        let once = filled(&page, "| a |\n").expect("both marks are there");
        assert_eq!(once, format!("before\n{BEGIN}\n| a |\n\n{END}after\n"));
        assert_eq!(filled(&once, "| a |\n"), Ok(once.clone()));
        assert!(filled("no marks", "").is_err());
    }
}
