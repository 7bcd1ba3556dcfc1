"""Holds report.junit and report.sarif of a folder to the schemas that tests/peers/install unpacked.

    validate_reports.py SCHEMAS FOLDER

What JUnit reports have beyond the schema is taken out first: CI servers read it, and the schema knows nothing of it.
"""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import xmlschema

schemas, folder = Path(sys.argv[1]), Path(sys.argv[2])
junit = ElementTree.parse(folder / "report.junit").getroot()
junit.attrib.pop("skipped", None)
for case in junit.iter("testcase"):
    for extension in ("assertions", "file", "line"):
        case.attrib.pop(extension, None)
    for properties in case.findall("properties"):
        case.remove(properties)
xmlschema.XMLSchema(schemas / "junit-10.xsd").validate(junit)
schema = json.loads((schemas / "sarif-schema-2.1.0.json").read_text())
validator = jsonschema.validators.validator_for(schema)(schema)
problems = [problem.message[:300] for problem in validator.iter_errors(json.loads((folder / "report.sarif").read_text()))]
if problems:
    sys.exit("\n".join(problems))
