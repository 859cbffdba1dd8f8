"""temporary, until the amp helper lands"""
def build_train_network(network, optimizer, loss_fn=None, level="O0", **kw):
    from dist_ms.nn.wrap import TrainOneStepCell, WithLossCell
    return TrainOneStepCell(network if loss_fn is None else WithLossCell(network, loss_fn), optimizer)
