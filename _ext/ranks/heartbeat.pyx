"""A rank's heartbeat, which tells a rank that is stopped or cut off from one that is busy."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy
from posix.unistd cimport close, getpid


cdef extern from "<netinet/in.h>":
    cdef struct in_addr:
        uint32_t s_addr

    cdef struct sockaddr_in:
        int sin_family
        uint16_t sin_port
        in_addr sin_addr

    enum: AF_INET
    uint16_t htons(uint16_t) nogil


cdef extern from "<sys/eventfd.h>":
    int eventfd(unsigned int, int)
    enum: EFD_CLOEXEC


cdef extern from "heartbeat.h":
    enum: HEARTBEAT_KEY

    ctypedef struct heartbeat_state:
        int socket
        int wake
        int rank
        int size
        uint8_t key[HEARTBEAT_KEY]
        double every
        double limit
        const sockaddr_in *addresses
        const int *first
        int lost

    int heartbeat_begin(heartbeat_state *) nogil
    void heartbeat_end(heartbeat_state *) nogil
    int heartbeat_open(int *, int) nogil
    int heartbeat_interfaces(uint32_t *, int) nogil


cdef enum:
    MOST_INTERFACES = 16


KEY_BYTES = HEARTBEAT_KEY


cdef class Heartbeat:
    """Beats for the rank before this one, and hears the rank behind it.

    Args:
        rank: this one.
        size: of the job.
        alone: whether all ranks are on this machine; then nothing is heard from outside.

    Attributes:
        address: the port where this rank hears, and the addresses of its interfaces as numbers: what others are given.

    Raises:
        OSError: if there is no socket to be had.

    >>> hearts = [Heartbeat(rank, 2, True) for rank in range(2)]
    >>> for heart in hearts:
    ...     heart.begin(bytes(KEY_BYTES), [one.address for one in hearts], 0.1, 1.0)
    >>> [heart.lost for heart in hearts]
    [None, None]
    """

    cdef heartbeat_state state
    cdef sockaddr_in *addresses
    cdef int *first
    cdef bint running
    cdef int process
    cdef readonly tuple address

    def __cinit__(self, int rank, int size, bint alone):
        cdef uint32_t found[MOST_INTERFACES]
        cdef int n = 1, port
        self.state.socket = self.state.wake = self.state.lost = -1
        port = heartbeat_open(&self.state.socket, alone)
        self.state.wake = eventfd(0, EFD_CLOEXEC)
        if port < 0 or self.state.wake < 0:
            raise OSError("The heartbeat has got no socket.")
        self.state.rank, self.state.size = rank, size
        if alone:
            found[0] = loopback()
        else:
            n = heartbeat_interfaces(found, MOST_INTERFACES)
        self.address = (port, *[found[i] for i in range(n)])

    def begin(self, bytes key, list peers, double every, double limit):
        """Begin to beat.

        Args:
            key: a secret of the job's ranks, of KEY_BYTES bytes.
            peers: every rank's `address`.
            every: seconds between two beats.
            limit: seconds of silence after which a rank is lost.

        Raises:
            ValueError: if the key or the peers are not as many as wanted.
            OSError: if there is no thread to be had.
        """
        cdef int i = 0
        if self.running or len(key) != HEARTBEAT_KEY or len(peers) != self.state.size:
            raise ValueError(f"A heartbeat begins once, with {HEARTBEAT_KEY} bytes and {self.state.size} addresses.")
        count = sum(len(peer) - 1 for peer in peers)
        self.addresses = <sockaddr_in *> calloc(max(count, 1), sizeof(sockaddr_in))
        self.first = <int *> calloc(self.state.size + 1, sizeof(int))
        if self.addresses == NULL or self.first == NULL:
            raise MemoryError
        for rank, (port, *numbers) in enumerate(peers):
            for number in numbers:
                self.addresses[i].sin_family = AF_INET
                self.addresses[i].sin_port = htons(port)
                self.addresses[i].sin_addr.s_addr = number
                i += 1
            self.first[rank + 1] = i
        memcpy(self.state.key, <const uint8_t *> key, HEARTBEAT_KEY)
        self.state.addresses, self.state.first = self.addresses, self.first
        self.state.every, self.state.limit = every, limit
        self.process = getpid()
        if heartbeat_begin(&self.state):
            raise OSError("The heartbeat has got no thread.")
        self.running = True

    @property
    def lost(self):
        """The rank that has fallen silent, None while none has."""
        return self.state.lost if self.state.lost >= 0 else None

    def end(self):
        """Stop beating."""
        if self.running and self.process == getpid():  # a forked child has no such thread
            heartbeat_end(&self.state)
        self.running = False

    def __dealloc__(self):
        if self.running and self.process == getpid():
            heartbeat_end(&self.state)
        if self.state.socket >= 0:
            close(self.state.socket)
        if self.state.wake >= 0:
            close(self.state.wake)
        free(self.addresses)
        free(self.first)


cdef uint32_t loopback() noexcept nogil:
    """127.0.0.1 in network order."""
    cdef uint8_t parts[4]
    cdef uint32_t number
    parts[0], parts[1], parts[2], parts[3] = 127, 0, 0, 1
    memcpy(&number, parts, 4)
    return number
