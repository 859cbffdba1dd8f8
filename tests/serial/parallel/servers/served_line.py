"""Parameter servers and their workers in one process: a letter is handed over at once, and nobody waits."""

from collections import deque
from types import SimpleNamespace

from dist_ms.communication.end.missing import Missing
from dist_ms.communication.start import roles
from dist_ms.communication.start.roles import Roles
from dist_ms.parallel.servers.client import ServerClient
from dist_ms.parallel.servers.loop import Server
from dist_ms.parallel.servers.messages import unpack

SILENT = Missing(1, "here", "does not answer")  # what is said of any rank


class Letters:
    """The mail of one rank.

    Attributes:
        slow: the server to which letters are not handed over before `hurry`; None: there is none.
    """

    def __init__(self, line, rank):
        self._line, self._rank, self._box = line, rank, deque()
        self.slow, self._late = None, []
        self.control = SimpleNamespace(
            left=set(),
            failed=set(),
            waited=0.0,
            listen=lambda: None,
            roll_call=lambda ranks: {},
            missing=lambda rank: SILENT,
            owner=SimpleNamespace(forked=False),
        )

    def send(self, data, dest, tag):
        """Hand a letter over: a server does at once what it asks for."""
        if self.slow is not None and dest == self._line.workers + self.slow:
            self._late.append((data.copy(), dest, tag))
        elif dest >= self._line.workers:
            self._line.servers[dest - self._line.workers].handle(unpack(self._rank, data.copy()))
        else:
            self._line.mail[dest]._box.append((self._rank, tag, data.copy()))

    def hurry(self):
        """Hand over what was kept back."""
        late, self._late, self.slow = self._late, [], None
        for letter in late:
            self.send(*letter)

    def take(self, source=None, tag=None):
        """Return the letter from a rank with a tag, None if there is none."""
        for letter in self._box:
            if letter[:2] == (source, tag):
                self._box.remove(letter)
                return letter
        return None

    def progress(self):
        """Everything has arrived."""
        return True


class Line:
    """Some workers and servers.

    Args:
        workers, servers: how many.

    Attributes:
        clients: one per worker.
    """

    def __init__(self, workers, servers):
        self.workers = workers
        self.mail = [Letters(self, rank) for rank in range(workers + servers)]
        self.servers = [Server(self._world(roles.SERVER, k, self.mail[workers + k], servers)) for k in range(servers)]
        self.clients = [ServerClient(self._world(roles.WORKER, k, self.mail[k], servers)) for k in range(workers)]
        for client in self.clients:
            client._seconds = 0.05  # what is not there now never comes

    def _world(self, role, number, mail, servers):
        return SimpleNamespace(comm=SimpleNamespace(rank=number), mail=mail, roles=Roles(role, self.workers, servers))
