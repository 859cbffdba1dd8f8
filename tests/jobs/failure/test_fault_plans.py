"""Some random fault plans; `python -m tests.jobs.failure.fault_plans FIRST LAST` runs as many as wanted."""

from dataclasses import replace

import pytest

from tests.jobs.failure.fault_plans import FAULTS, plan_of, run_plan

# One seed for every other kind of fault, each drawn with its own rank, step, optimizer and settings.
SEEDS = [len(FAULTS) * turn + kind for turn, kind in enumerate((1, 4, 5, 9, 11, 13, 16, 19))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fault_ends_the_job_in_a_clear_error(seed, write, tmp_path, request):
    plan = plan_of(seed)
    outcome = run_plan(plan, tmp_path, request.getfixturevalue("hosts") if plan.slots else None)
    assert outcome.complaint(plan) is None, (plan, outcome)


def test_seeds_cover_the_faults():
    assert {plan_of(seed).fault for seed in range(len(FAULTS))} == set(FAULTS)
    assert len({plan_of(seed).fault for seed in SEEDS}) == len(SEEDS)


def test_the_same_job_without_a_fault_ends_well(write, tmp_path):
    plan = replace(plan_of(0).without_fault(), slots=())
    outcome = run_plan(plan, tmp_path)
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("trained to the end") == plan.ranks
