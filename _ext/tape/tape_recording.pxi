# What is being recorded, per thread.

@cython.auto_pickle(False)
cdef class State:
    """One thread's part of `recording`."""

    cdef object tape
    cdef Py_ssize_t depth
    cdef bint refused, rerunning, rows
    cdef object written, policy, observer
    cdef dict places

    def __cinit__(self):
        self.places = {}

    def __dealloc__(self):
        global latest
        if latest == <PyObject *> self:
            latest = NULL


cdef PyObject *latest = NULL
cdef unsigned long long latest_thread = 0


cdef State find_state(unsigned long long thread):
    global latest, latest_thread
    cdef PyObject *found = PyThreadState_GetDict()
    if found == NULL:
        raise RuntimeError("An operation needs a thread that Python knows.")
    cdef dict own = <dict> found
    cdef State state = own.get("dist_ms.recording")
    if state is None:
        state = own["dist_ms.recording"] = State()
    latest, latest_thread = <PyObject *> state, thread
    return state


cdef inline State current():
    """The state of this thread; the one used last is at hand, as threads change seldom."""
    cdef unsigned long long thread = PyThreadState_GetID(PyThreadState_Get())
    if latest != NULL and thread == latest_thread:
        return <State> latest
    return find_state(thread)


@cython.auto_pickle(False)
cdef class Recording:
    """What is being recorded, per thread.

    Attributes:
        tape: the tape operations are recorded on; None when nothing is recorded.
        depth: the number of gradient computations whose function is running.
        refused: inside a `no_grad` region, where gradients cannot be taken.
        rerunning: a recomputed function runs for the second time.
        written: during such a run, the Parameters it wrote: (parameter, array, old values) by id.
        policy: called with (primitive, inputs) before every operation; returns the inputs to run
            on, or the result if it ran the operation itself: mixed precision casts. None outside
            such regions.
        observer: called with (primitive, inputs, result) after every operation, where `result` is
            a tensor or a tuple of them: an export writes down what runs. None outside of it.
        rows: a sweep that runs may give the gradient of any table that was looked up as a
            RowTensor, because who asked for it takes one as the dense gradient it stands for.
        tapes: the tapes in use, of all threads.
        places: where a sweep wants the gradients of some nodes (dist_ms/autograd/places.py).
        on: whether operations on traced tensors are recorded.
    """

    @property
    def tape(self):
        return current().tape

    @tape.setter
    def tape(self, value):
        current().tape = value

    @property
    def depth(self):
        return current().depth

    @depth.setter
    def depth(self, Py_ssize_t value):
        current().depth = value

    @property
    def refused(self):
        return current().refused

    @refused.setter
    def refused(self, bint value):
        current().refused = value

    @property
    def rerunning(self):
        return current().rerunning

    @rerunning.setter
    def rerunning(self, bint value):
        current().rerunning = value

    @property
    def written(self):
        return current().written

    @written.setter
    def written(self, value):
        current().written = value

    @property
    def policy(self):
        return current().policy

    @policy.setter
    def policy(self, value):
        current().policy = value

    @property
    def observer(self):
        return current().observer

    @observer.setter
    def observer(self, value):
        current().observer = value

    @property
    def rows(self):
        return current().rows

    @rows.setter
    def rows(self, bint value):
        current().rows = value

    @property
    def tapes(self):
        return tapes_in_use()

    @property
    def places(self):
        return current().places

    @property
    def on(self):
        return current().tape is not None


recording = Recording()
