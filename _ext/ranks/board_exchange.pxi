"""Included by board.pyx: one meeting or reduction, as the steps it takes."""

cdef class Exchange:
    """One meeting or reduction under way."""

    cdef Board owner
    cdef State *board
    cdef object array, kept
    cdef Way way
    cdef Phase phase
    cdef Kind kind
    cdef Op op
    cdef double scale
    cdef int64_t ticket, mark, base
    cdef char *data
    cdef char *source
    cdef int block, parts, threads
    cdef bint hold
    cdef int turn
    cdef Py_ssize_t count, step, per_chunk, chunks, at
    cdef char **pointers
    cdef char **outs

    def __cinit__(self):
        self.pointers = NULL

    def __dealloc__(self):
        free(self.pointers)

    cdef void begin(self, Board owner, Way way, int64_t mark) noexcept:
        """Take a ticket."""
        self.owner, self.board = owner, &owner.state
        self.board.tickets += 1
        self.way, self.mark, self.phase, self.ticket = way, mark, QUEUED, self.board.tickets

    cdef int allocate(self, int size) except -1:
        """Make room for two pointers per rank."""
        self.pointers = <char **> calloc(2 * size, sizeof(char *))
        if self.pointers == NULL:
            raise MemoryError()
        self.outs = self.pointers + size
        return 0

    cdef void lay_out(self) noexcept:
        """Cut the work into parts and chunks, of whole cache lines where that is possible."""
        cdef State *board = self.board
        cdef int rank, item = bytes_of(self.kind)
        cdef Py_ssize_t line = ALIGNMENT // item
        cdef Py_ssize_t room = board.chunk // item
        self.threads = openmp.omp_get_max_threads()
        self.per_chunk, self.chunks, self.at, self.turn = self.count, 1, 0, 0
        if self.way == STAGED:
            self.chunks = (self.count + room - 1) // room
            self.per_chunk = (self.count + self.chunks - 1) // self.chunks
            self.per_chunk = min(room, (self.per_chunk + line - 1) // line * line)
        self.step = (self.per_chunk + self.parts - 1) // self.parts
        self.step = (self.step + line - 1) // line * line
        if self.way == SMALL:
            for rank in range(board.size):
                self.pointers[rank] = self.slot(rank)
        elif self.way == IN_PLACE:
            for rank in range(board.size):
                self.pointers[rank] = (
                    self.data + (rank - board.rank) * self.owner.blocks[self.block].stride
                )

    cdef char *slot(self, int rank) noexcept nogil:
        return self.board.slots + (rank * DEPTH + self.ticket % DEPTH) * self.board.small

    cdef char *stage_of(self, int rank, Py_ssize_t chunk) noexcept nogil:
        return self.board.stages + (STAGES * rank + chunk % STAGES) * self.board.chunk

    @property
    def part(self):
        """The (start, stop) of this rank's part, in elements."""
        start = min(self.count, self.board.rank * self.step)
        return start, min(self.count, start + self.step) if self.board.rank < self.parts else start

    def advance(self, double seconds, bint moving=False):
        """Drive the exchange until something holds it up for longer than `seconds`.

        Args:
            seconds: how long to wait for another rank at each step; 0: never.
            moving: return at once if not even one step can be taken now, unless all ranks are in
                the midst of it.

        Returns:
            DONE; REDUCED (waits for `release`); DIFFER: a rank has entered something else; or
            WAITING.
        """
        cdef int state
        with nogil:
            state = self.run(seconds, moving)
        return state

    def release(self):
        """Let an exchange that was held go on."""
        if self.phase == HELD:
            self.phase = RELEASED

    cdef int run(self, double seconds, bint moving) noexcept nogil:
        """Take steps; poll while there is none to take."""
        cdef double end = 0
        cdef int polls = 0
        while True:
            if self.phase == OVER:
                return 1
            if self.phase == HELD:
                return 2
            if self.phase == DIFFERENT:
                return 3
            if self.take_step():
                polls, end, moving = 0, 0, False
                continue
            if seconds <= 0 or (moving and self.phase != STAGING):
                return 0
            polls += 1
            if polls <= self.board.patience:
                pause()
                continue
            if end == 0:
                end = now() + seconds
            elif now() > end:
                return 0
            sched_yield()

    cdef bint all_entered(self, int64_t ticket) noexcept nogil:
        cdef int rank
        for rank in range(self.board.size):
            if load(&self.board.lines[rank].entered) < ticket:
                return False
        return True

    cdef bint all_finished(self, int64_t ticket) noexcept nogil:
        cdef int rank
        for rank in range(self.board.size):
            if load(&self.board.lines[rank].finished) < ticket:
                return False
        return True

    cdef bint all_staged(self, int64_t stage) noexcept nogil:
        cdef int rank
        for rank in range(self.board.size):
            if load(&self.board.lines[rank].stage) < stage:
                return False
        return True

    cdef bint take_step(self) noexcept nogil:
        """Do what comes next if it can be done now; return whether it was."""
        cdef State *board = self.board
        if self.phase == QUEUED:
            return self.enter()
        if self.phase == ENTERED:
            if board.reduced != self.ticket - 1 or not self.all_entered(self.ticket):
                return False
            if not self.marks_agree():
                if self.way == STAGED:
                    board.stage = self.base  # nobody will take these stages
                board.reduced = self.ticket
                self.phase = PARTING
                return True
            if self.way == STAGED:
                self.phase = STAGING
                return True
            if not self.reduce_whole():
                return False
            board.reduced = self.ticket
            self.phase = HELD if self.hold else FINISHING
            return True
        if self.phase == STAGING:
            return self.take_stage()
        if self.phase == FINISHING:
            if board.finished != self.ticket - 1:
                return False
            return self.finish(CLOSING if self.way == IN_PLACE or self.way == DIRECT else OVER)
        if self.phase == PARTING:
            if board.finished != self.ticket - 1:
                return False
            return self.finish(DIFFERENT)
        if self.phase == RELEASED:
            if board.finished != self.ticket - 1:
                return False
            self.spread()
            return self.finish(CLOSING)
        # CLOSING: others still write to this rank's array, or read it.
        if not self.all_finished(self.ticket):
            return False
        self.phase = OVER
        return True

    cdef bint finish(self, Phase phase) noexcept nogil:
        """Show that this rank reads and writes no shared memory for this exchange any more."""
        self.board.finished = self.ticket
        store(&self.board.lines[self.board.rank].finished, self.ticket)
        self.phase = phase
        return True

    cdef bint enter(self) noexcept nogil:
        """Show that this rank is here, with its data, when the slots are free."""
        cdef State *board = self.board
        cdef Line *line = board.lines + board.rank
        if board.entered != self.ticket - 1 or not self.all_finished(self.ticket - DEPTH):
            return False
        if self.way == STAGED:
            if board.finished < board.last_staged or not self.all_finished(board.last_read):
                return False
            self.take_stages()
            self.base = board.stage
            board.stage += 2 * self.chunks - 1
            self.copy_in(0)
        elif self.way == SMALL:
            self.copy_to_slot()
        line.places[self.ticket % DEPTH] = <int64_t> <uintptr_t> self.source
        line.marks[self.ticket % DEPTH] = self.mark
        board.entered = self.ticket
        store(&line.entered, self.ticket)
        self.phase = ENTERED
        return True

    cdef void take_stages(self) noexcept nogil:
        """Note until when this exchange uses the stages."""
        self.board.last_staged = self.ticket

    cdef void copy_to_slot(self) noexcept nogil:
        memcpy(self.slot(self.board.rank), self.source, self.count * bytes_of(self.kind))

    cdef bint marks_agree(self) noexcept nogil:
        cdef int rank
        for rank in range(self.board.size):
            if self.board.lines[rank].marks[self.ticket % DEPTH] != self.mark:
                return False
        return True

    cdef bint reduce_whole(self) noexcept nogil:
        """Reduce a small array, or this rank's part of arrays in shared memory; return whether it was done."""
        cdef State *board = self.board
        cdef Py_ssize_t start, stop
        if self.way == SMALL:
            reduce_buffers(
                self.kind, self.op, self.scale, <const char *const *> self.pointers, board.size,
                <char *const *> &self.data, 1, 0, self.count, 1)
        elif self.way == IN_PLACE and board.rank < self.parts:
            start = min(self.count, board.rank * self.step)
            stop = min(self.count, start + self.step)
            if self.hold:
                reduce_buffers(
                    self.kind, self.op, 1, <const char *const *> self.pointers, board.size,
                    <char *const *> &self.data, 1, start, stop, self.threads)
            else:
                reduce_buffers(
                    self.kind, self.op, self.scale, <const char *const *> self.pointers,
                    board.size, <char *const *> self.pointers, board.size, start, stop,
                    self.threads)
        return True

    cdef void spread(self) noexcept nogil:
        """Scale this rank's part and copy it into all ranks' arrays."""
        cdef State *board = self.board
        cdef Py_ssize_t start
        if board.rank < self.parts:
            start = min(self.count, board.rank * self.step)
            reduce_buffers(
                self.kind, self.op, self.scale, <const char *const *> &self.data, 1,
                <char *const *> self.pointers, board.size, start,
                min(self.count, start + self.step), self.threads)

    # ---- staged: chunk k is in when `stage` reaches base + 2k - 1 (0: when entered), and reduced
    # at base + min(2k + 2, 2 chunks - 1).
    cdef bint take_stage(self) noexcept nogil:
        cdef Py_ssize_t k = self.at
        cdef Line *line = self.board.lines + self.board.rank
        if self.turn == 0:
            if k + 1 < self.chunks:
                self.copy_in(k + 1)
                store(&line.stage, self.base + 2 * k + 1)
            self.turn = 1 if k < self.chunks else 2
        elif self.turn == 1:
            if k > 0 and not self.all_staged(self.base + 2 * k - 1):
                return False
            self.reduce_chunk(k)
            store(&line.stage, self.base + min(2 * k + 2, 2 * self.chunks - 1))
            self.turn = 2
        else:
            if k > 0:
                if not self.all_staged(self.base + min(2 * k, 2 * self.chunks - 1)):
                    return False
                self.copy_out(k - 1)
            if k == self.chunks:
                self.board.reduced = self.ticket
                self.phase = FINISHING
            self.at, self.turn = k + 1, 0
        return True

    cdef Py_ssize_t length(self, Py_ssize_t chunk) noexcept nogil:
        return max(0, min(self.per_chunk, self.count - chunk * self.per_chunk))

    cdef void copy_in(self, Py_ssize_t chunk) noexcept nogil:
        """Copy what other ranks reduce to this rank's stage."""
        cdef int item = bytes_of(self.kind)
        cdef Py_ssize_t length = self.length(chunk)
        cdef Py_ssize_t start = min(length, self.board.rank * self.step)
        cdef Py_ssize_t stop = min(length, start + self.step)
        cdef char *stage = self.stage_of(self.board.rank, chunk)
        cdef char *data = self.source + chunk * self.per_chunk * item
        copy_from(stage, data, start * item)
        copy_from(stage + stop * item, data + stop * item, (length - stop) * item)

    cdef void reduce_chunk(self, Py_ssize_t chunk) noexcept nogil:
        """Reduce this rank's part of all stages, with its own from its array, into all of them and its array."""
        cdef State *board = self.board
        cdef Py_ssize_t length = self.length(chunk)
        cdef Py_ssize_t start = min(length, board.rank * self.step)
        cdef int rank
        cdef Py_ssize_t at = chunk * self.per_chunk * bytes_of(self.kind)
        for rank in range(board.size):
            self.pointers[rank] = self.outs[rank] = self.stage_of(rank, chunk)
        self.pointers[board.rank] = self.source + at
        self.outs[board.rank] = self.data + at
        reduce_buffers(
            self.kind, self.op, self.scale, <const char *const *> self.pointers, board.size,
            <char *const *> self.outs, board.size, start, min(length, start + self.step), 1)

    cdef void copy_out(self, Py_ssize_t chunk) noexcept nogil:
        """Copy back what other ranks have reduced; this rank writes to the stage next."""
        cdef int item = bytes_of(self.kind)
        cdef Py_ssize_t length = self.length(chunk)
        cdef Py_ssize_t start = min(length, self.board.rank * self.step)
        cdef Py_ssize_t stop = min(length, start + self.step)
        cdef char *stage = self.stage_of(self.board.rank, chunk)
        cdef char *data = self.data + chunk * self.per_chunk * item
        copy_back(data, stage, start * item)
        copy_back(data + stop * item, stage + stop * item, (length - stop) * item)
