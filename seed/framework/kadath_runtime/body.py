"""Everything one attempt is made of, put together once at start."""

from collections.abc import Callable
from typing import Any

from kadath_runtime import prompt
from kadath_runtime.agent import OrganismAgent
from kadath_runtime.budget import Budget
from kadath_runtime.dispatch import Dispatch
from kadath_runtime.gateway import Gateway
from kadath_runtime.horizon import Horizon
from kadath_runtime.interpreter import ChildInterpreter
from kadath_runtime.model import GatewayModel
from kadath_runtime.task import Places, Task
from kadath_runtime.toolbox import build
from kadath_runtime.tools.answers import Artifacts, Candidates, Remaining
from kadath_runtime.tools.files import Repository, Workspace
from kadath_runtime.tools.notes import Activity, Memory
from kadath_runtime.tools.reflection import Context, Proposal
from kadath_runtime.tools.shell import Shell
from kadath_runtime.tools.web import Web
from kadath_runtime.trace import Trace

MAX_STEP_SECONDS = 300.0
REFLECTING = ("read_context", "list_elite", "read_elite_file", "propose_mutation")


class Body:
    """The parts an attempt's loop needs; the model's and the child's lives are managed here."""

    def __init__(self, task: Task, places: Places, horizon: Horizon, gateway: Gateway):
        self.task, self.places, self.horizon, self.gateway = task, places, horizon, gateway
        state = places.state
        self.model = GatewayModel(task.model, gateway, horizon, task.purpose)
        self.budget = Budget(horizon, gateway, task.steps)
        self.candidates = Candidates(state / "candidate.json")
        self.activity = Activity(state / "activity.jsonl", gateway)
        self.proposal = Proposal(state / "mutation.json")
        self.shell = Shell(places.genome, places.workspace, state / "jobs", horizon)
        self.tools = build(self._functions())
        self.dispatch = Dispatch({name: tool.forward for name, tool in self.tools.items()})
        self.trace = Trace(state / "step-trace.jsonl", self)
        self.shape = prompt.shape(task.limits)
        instructions = (places.genome / "SYSTEM_PROMPT.md").read_text(
            encoding="utf-8", errors="replace"
        )
        self.system = prompt.system(instructions, self.tools, task, self.shape)
        self._interpreter: ChildInterpreter | None = None

    def _functions(self) -> list[Callable[..., Any]]:
        repository, workspace, shell = (
            Repository(self.places.genome),
            Workspace(self.places.workspace),
            self.shell,
        )
        memory, artifacts = Memory(self.gateway), Artifacts(self.places.state / "artifacts")
        functions: list[Callable[..., Any]] = [
            repository.list_repository,
            repository.read_repository_file,
            workspace.list_workspace,
            workspace.read_workspace_file,
            workspace.write_workspace_file,
            workspace.delete_workspace_file,
            shell.run_command,
            shell.start_job,
            shell.job_output,
            artifacts.save_artifact,
            self.candidates.save_candidate,
            self.activity.log_activity,
            memory.search_memory,
            memory.rate_memory,
            memory.publish_memory,
            Remaining(self.budget).remaining_budget,
        ]
        web = Web(self.gateway)
        optional = {"web_search": web.search_web, "web_fetch": web.fetch_page}
        functions += [tool for name, tool in optional.items() if name in self.task.tools]
        if self.task.purpose != "reflection":
            return functions
        context = Context(self.places)
        return [
            *functions,
            context.read_context,
            context.list_elite,
            context.read_elite_file,
            self.proposal.propose_mutation,
        ]

    def agent(self, pass_number: int) -> OrganismAgent:
        """A fresh agent with a fresh interpreter."""
        self.rest()
        self.model.pass_number = pass_number
        self._interpreter = ChildInterpreter(
            self.dispatch,
            self.places.genome,
            self.places.workspace,
            self.horizon,
            self._step_seconds(),
        )
        self.begin_step(1)
        return OrganismAgent(
            tools=list(self.tools.values()),
            model=self.model,
            executor=self._interpreter,
            instructions=self.system,
            max_steps=self.task.steps,
            step_callbacks=[self.trace],
            history=self.shape.history,
            turn=self.shape.turn,
            live=self._live,
        )

    def begin_step(self, step: int) -> None:
        self.model.step_number = self.budget.step = step
        self.dispatch.begin_step()

    def rest(self) -> None:
        """End the interpreter of the last pass."""
        if self._interpreter is not None:
            self._interpreter.cleanup()

    def close(self) -> None:
        """End everything this attempt started."""
        self.rest()
        self.shell.close()

    def _live(self) -> str:
        return prompt.live(
            self.budget.levels(),
            self.model.pass_number,
            self.budget.step,
            self.task.steps,
            self.horizon.finalizing(),
        )

    def _step_seconds(self) -> float:
        wanted = float(self.task.limits.get("step_seconds") or 120.0)
        return max(0.1, min(MAX_STEP_SECONDS, wanted))
