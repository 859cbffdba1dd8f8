"""Included by board.pyx: bytes moved from rank to rank, or reduced for one rank, through slots or stages."""

cdef class Movement(Exchange):
    """One movement under way. Round k takes `piece` bytes from every pair of ranks through stage k."""

    cdef Py_ssize_t length_each, piece
    cdef int sender
    cdef bint sends, by_parts, reduces

    cdef void plan_rounds(self) noexcept:
        """Cut the work into rounds."""
        cdef Py_ssize_t room = self.board.chunk
        if self.by_parts:
            room = max(<Py_ssize_t> ALIGNMENT, room // self.board.size // ALIGNMENT * ALIGNMENT)
        if self.sender >= 0:
            room = min(room, <Py_ssize_t> LONE_PIECE)
        self.piece, self.chunks, self.at, self.turn, self.hold = room, 1, 0, 0, False
        if self.way == STAGED:
            self.chunks = (self.length_each + room - 1) // room

    cdef void take_stages(self) noexcept nogil:
        """Others read this rank's stages until they have finished."""
        self.board.last_staged = self.board.last_read = self.ticket

    cdef void copy_to_slot(self) noexcept nogil:
        if self.sends:
            copy_from(self.slot(self.board.rank), self.source,
                      self.length_each * self.board.size if self.by_parts else self.length_each)

    cdef bint reduce_whole(self) noexcept nogil:
        """Take what comes from the slots, or from the others' sources; return whether all is there."""
        cdef int rank
        if self.way == DIRECT:
            return self.read_sources()
        for rank in range(self.board.size):
            self.pointers[rank] = self.slot(rank)
            if self.by_parts:
                self.pointers[rank] += self.board.rank * self.length_each
        self.take(0, self.length_each)
        return True

    cdef bint read_sources(self) noexcept nogil:
        """Read from the others' memory; a rank that has ended cannot be read, which its neighbours wait to hear."""
        cdef State *board = self.board
        cdef Line *line
        cdef char *out
        cdef int rank, step
        cdef int64_t at = board.rank * self.length_each if self.by_parts else 0
        for step in range(board.size):  # each begins with its own, then its next neighbour's
            rank = (board.rank + step) % board.size
            line = board.lines + rank
            if self.sender >= 0 and rank != self.sender:
                continue
            out = self.data + (rank * self.length_each if self.sender < 0 else 0)
            if rank != board.rank:
                if not read_from(line.process, line.places[self.ticket % DEPTH] + at, out, self.length_each):
                    return False
            elif out != self.source + at:
                memcpy(out, self.source + at, self.length_each)
        return True

    cdef Py_ssize_t length(self, Py_ssize_t chunk) noexcept nogil:
        return max(0, min(self.piece, self.length_each - chunk * self.piece))

    cdef void copy_in(self, Py_ssize_t chunk) noexcept nogil:
        """Copy what the others take in round `chunk` to this rank's stage."""
        cdef char *stage = self.stage_of(self.board.rank, chunk)
        cdef char *data = self.source + chunk * self.piece
        cdef Py_ssize_t length = self.length(chunk)
        cdef int rank
        if not self.sends:
            return
        if not self.by_parts:
            copy_from(stage, data, length)
            return
        for rank in range(self.board.size):
            if rank != self.board.rank:
                copy_from(stage + rank * self.piece, data + rank * self.length_each, length)

    cdef void take_chunk(self, Py_ssize_t chunk) noexcept nogil:
        """Take round `chunk` from the others' stages."""
        cdef int rank
        for rank in range(self.board.size):
            self.pointers[rank] = self.stage_of(rank, chunk)
            if self.by_parts:
                self.pointers[rank] += self.board.rank * self.piece
        self.take(chunk * self.piece, self.length(chunk))

    cdef void take(self, Py_ssize_t start, Py_ssize_t length) noexcept nogil:
        """Write to `start` of what comes from each rank the bytes the pointers show; this rank's are at home."""
        cdef State *board = self.board
        cdef int rank, item = bytes_of(self.kind)
        cdef char *out = self.data + start
        if self.sends:
            self.pointers[board.rank] = self.source + start
            if self.by_parts:
                self.pointers[board.rank] += board.rank * self.length_each
        if self.reduces:
            reduce_buffers(
                self.kind, self.op, self.scale, <const char *const *> self.pointers, board.size,
                <char *const *> &out, 1, 0, length // item, 1)
        elif self.sender >= 0:
            self.take_from(self.sender, out, length)
        else:
            for rank in range(board.size):
                self.take_from(rank, out + rank * self.length_each, length)

    cdef void take_from(self, int rank, char *out, Py_ssize_t length) noexcept nogil:
        if out != self.pointers[rank]:
            copy_from(out, self.pointers[rank], length)

    cdef bint has_come(self, int64_t stage) noexcept nogil:
        """Tell whether those who send have."""
        if self.sender >= 0:
            return load(&self.board.lines[self.sender].stage) >= stage
        return self.all_staged(stage)

    # ---- round k is in when `stage` reaches base + 2k - 1 (0: when entered), and taken at
    # base + min(2k + 2, 2 chunks - 1).
    cdef bint take_stage(self) noexcept nogil:
        cdef Py_ssize_t k = self.at
        cdef Line *line = self.board.lines + self.board.rank
        if self.turn == 0:
            if k + 1 < self.chunks:
                if k + 1 >= STAGES and not self.all_staged(self.base + 2 * (k + 1 - STAGES) + 2):
                    return False
                self.copy_in(k + 1)
                store(&line.stage, self.base + 2 * k + 1)
            self.turn = 1
            return True
        if k > 0 and not self.has_come(self.base + 2 * k - 1):
            return False
        self.take_chunk(k)
        store(&line.stage, self.base + min(2 * k + 2, 2 * self.chunks - 1))
        self.at, self.turn = k + 1, 0
        if self.at == self.chunks:
            self.board.reduced = self.ticket
            self.phase = FINISHING
        return True
