"""The reverse sweep's way through the nodes; `dist_ms/autograd/sweep.py` has what a node may need besides."""

from operator import attrgetter

cdef object order_of = attrgetter("order")
cdef unsigned long long plans = 0


cdef struct Ordered:
    unsigned long long order
    PyObject *node


cdef int compare(const void *a, const void *b) noexcept nogil:
    cdef unsigned long long first = (<const Ordered *> a).order
    cdef unsigned long long second = (<const Ordered *> b).order
    return (first > second) - (first < second)


cdef list in_order(list nodes):
    """Nodes as they were made, each once."""
    cdef Py_ssize_t i, n = len(nodes)
    cdef Ordered *rows = <Ordered *> malloc((n + 1) * sizeof(Ordered))
    if rows == NULL:
        raise MemoryError
    for i in range(n):
        rows[i].order, rows[i].node = (<Node> nodes[i]).order, <PyObject *> nodes[i]
    qsort(rows, n, sizeof(Ordered), compare)
    try:
        return [<object> rows[i].node for i in range(n) if i == 0 or rows[i].node != rows[i - 1].node]
    finally:
        free(rows)


cdef Node source(Node node, object i):
    """The node that made an input."""
    return (<Value> node.inputs[<Py_ssize_t> i])._node


@cython.auto_pickle(False)
cdef class NodeSweep:
    """One reverse pass from outputs to target nodes.

    Args:
        roots: (node, output index, gradient) of each output to start from.
        targets: nodes whose gradients are wanted; the pass does not go beyond them.

    Attributes:
        edges: how many gradients a node that the pass comes to still waits for.
        order: the nodes to run, the first to run last.

    A subclass has `row_type`, the type of gradients that have rows only, `gradients_of(node, slots)`
    for nodes that are more than an operation with one output, `hooked(node, slots)`, and
    `sum(a, b, (node, index))`.
    """

    cdef readonly set targets
    cdef readonly dict edges
    cdef readonly list order
    cdef list roots
    cdef dict pending
    cdef object row_type

    def __init__(self, roots, targets):
        self.targets = set(targets)
        self.row_type = type(self).row_gradient
        self.pending = {}
        self.edges, self.order = {}, []
        if self.targets:
            self.plan({root[0] for root in roots})
        self.roots = [root for root in roots if root[0] in self.edges]
        for root in self.roots:
            self.edges[root[0]] += 1

    cdef plan(self, set begin):
        """Count the edges into the nodes between `begin` and the targets; list those to run in order."""
        cdef set targets = self.targets
        cdef dict edges = self.edges
        cdef list stack = list(begin), found = [], order = self.order, late = []
        cdef Node node, made
        cdef unsigned long long first = min([(<Node> target).order for target in targets])
        cdef bint useful
        global plans
        plans += 1
        cdef unsigned long long mine = plans
        while stack:
            node = <Node> stack.pop()
            if node.order < first or node.plan == mine:
                continue
            node.plan = mine
            found.append(node)
            if node not in targets:
                for i in node.live:
                    stack.append(source(node, i))
        for node in in_order(found):
            if node in targets:
                edges[node] = 0
                continue
            useful = False
            for i in node.live:
                made = source(node, i)
                if made in edges:
                    edges[made] += 1
                    useful = True
            if useful:
                edges[node] = 0
                order.append(node)
                if node.after is not None and node.after.tape is node.tape:
                    late.append(node.after)
        for node in late:
            if node not in edges:
                for i in node.live:
                    made = source(node, i)
                    if made in edges:
                        edges[made] += 1
                edges[node] = 0
                order.append(node)
        if late:
            order.sort(key=order_of)

    def reaches(self, target):
        """Whether anything leads to this target."""
        return target in self.edges

    def run(self, deliver, progress, bint release):
        """Compute the gradients; `deliver` gets each target's as soon as it is complete.

        Args:
            deliver: called once for every reached target; None when only empty
                contributions arrived.
            progress: called after each node.
            release: free each node's saved values once used.
        """
        cdef dict edges = self.edges
        cdef list order = self.order, roots = self.roots
        cdef tuple inputs, given
        cdef object live, slots
        cdef Node node
        cdef Value x
        cdef Py_ssize_t i
        self.roots = []
        for root in roots:
            self.contribute(root[0], root[1], root[2], deliver)
        roots = root = None
        while order:
            node = <Node> order.pop()
            slots = self.pending.pop(node, None)
            inputs, live = node.inputs, node.live
            given = None
            if slots is not None or node.special:
                given = self.gradients(node, slots)
                slots = None  # a gradient that still waits for its array may have no other owner
            if release:
                node.release()
            for i in live:
                x = <Value> inputs[i]
                if x._node in edges:
                    self.contribute(x._node, x._index, None if given is None else given[i], deliver)
            progress()

    cdef tuple gradients(self, Node node, object slots):
        """Ask a node for the gradients of its inputs, given those of its outputs."""
        cdef object output, given
        cdef Value last
        if node.width or node.hooks is not None or node.packed is not None or slots is None:
            return self.gradients_of(node, slots)
        output = node.output
        if node.primitive.keeps_output:
            last = shadow(<Value> output, True)  # its history is made late: no reference cycle
            last._node = node
            output = last
        elif type(output) is tuple:
            last = bare()
            last._shape, last._dtype = output
            output = last
        given = node.primitive.gradient(node.inputs, output, (<list> slots)[0])
        if type(given) is not tuple:
            given = (given,)
        if node.live and node.live[len(node.live) - 1] >= len(<tuple> given):
            raise self.too_few(node, given)
        return given

    cdef int contribute(self, Node node, Py_ssize_t index, object grad, object deliver) except -1:
        cdef list slots
        cdef Py_ssize_t left
        if grad is not None:
            if type(grad) is self.row_type and (node.hooks is not None or node not in self.targets):
                grad = grad.to_dense()  # what comes next is written for tensors
            slots = self.pending.get(node)
            if slots is None:
                slots = self.pending[node] = [None] * (node.width or 1)
            if slots[index] is not None:
                grad = self.sum(slots[index], grad, (node, index))
            slots[index] = grad
        left = self.edges[node] - 1
        self.edges[node] = left
        if left == 0 and node in self.targets:
            slots = self.pending.pop(node, None)
            if slots is not None and node.hooks is not None:
                slots = self.hooked(node, slots)
            deliver(node, None if slots is None else slots[0])
        return 0
