"""The pytest plugin collects suites, and judges traces that tests make."""

from __future__ import annotations

import json
import os

import pytest

SUITE = """
agents:
  - name: finds (the) order
    cassette: good.json
    golden_path: { calls: [find_order] }
  - name: charges once
    cassette: bad.json
    golden_path: { calls: [charge] }
"""

needs_program = pytest.mark.skipif(
    "MCPTEST_BINARY" not in os.environ,
    reason="MCPTEST_BINARY names no program",
)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.path.joinpath("shop.mcptest.yml").write_text(SUITE)
    good = {"tool_calls": [{"name": "find_order"}], "final_response": "Found."}
    bad = {"tool_calls": [{"name": "charge"}, {"name": "charge"}], "final_response": "Charged."}
    pytester.path.joinpath("good.json").write_text(json.dumps(good))
    pytester.path.joinpath("bad.json").write_text(json.dumps(bad))
    return pytester


@needs_program
def test_each_row_of_a_suite_is_an_item(project: pytest.Pytester) -> None:
    result = project.runpytest("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*shop.mcptest.yml::finds (the) order PASSED*",
            "*shop.mcptest.yml::charges once FAILED*",
            "*golden_path: 2 calls, but the golden path has 1; extra: call 2 `charge`*",
        ],
    )
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


@needs_program
def test_rows_are_selected_by_name(project: pytest.Pytester) -> None:
    result = project.runpytest("-k", "order")
    result.assert_outcomes(passed=1, deselected=1)


@needs_program
def test_a_refused_suite_is_an_error_with_its_place(project: pytest.Pytester) -> None:
    project.path.joinpath("broken.mcptest.yml").write_text("agents: [{ name: a, promt: b }]")
    result = project.runpytest("broken.mcptest.yml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*broken.mcptest.yml:1*"])


def test_a_missing_program_is_named(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MCPTEST_BINARY", raising=False)
    monkeypatch.setenv("PATH", "")
    result = project.runpytest("shop.mcptest.yml")
    assert result.ret != 0
    both = result.stdout.str() + result.stderr.str()
    assert "the program mcptest, which is not in PATH" in both


def test_the_fixture_judges_traces_of_a_test(project: pytest.Pytester) -> None:
    project.path.joinpath("gates.yml").write_text(
        "agents: [{ name: checkout, golden_path: { calls: [charge] } }]",
    )
    project.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("count", [1, 2])
        def test_checkout(mcptest_suite, count):
            mcptest_suite("gates.yml").check([{"tool_calls": [{"name": "charge"}] * count}])
        """,
    )
    result = project.runpytest("-k", "test_checkout")
    result.assert_outcomes(passed=1, failed=1, deselected=2 * ("MCPTEST_BINARY" in os.environ))
    result.stdout.fnmatch_lines(["*call 2 `charge`*"])
