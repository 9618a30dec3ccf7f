import torch

from draftgate.engine.cache.store import FloatStore


def entries(rows, nodes, start=0):
    """Keys and values (rows, 2 heads, nodes, 3 wide), every number another."""
    numbers = torch.arange(rows * 2 * nodes * 3).view(rows, 2, nodes, 3) + start
    return numbers, -numbers


def test_what_is_put_by_number_or_by_slice_is_taken_alike():
    keys, values = entries(1, 4)
    stores = [FloatStore(6, 2), FloatStore(6, 2)]
    stores[0].put(0, slice(4, 8), keys, values)
    stores[1].put(0, torch.tensor([[4, 5, 6, 7]]), keys, values)

    for store in stores:
        for places in (slice(4, 8), torch.tensor([[2, 3]])):
            taken = store.take(0, places)
            assert torch.equal(keys, taken.keys)
            assert torch.equal(values, taken.values)


def test_rows_are_gathered_by_their_tables_and_what_was_never_written_is_zero():
    keys, values = entries(2, 2)
    store = FloatStore(4, 2)
    store.put(0, torch.tensor([[2, 3], [7, 0]]), keys, values)
    taken = store.take(0, torch.tensor([[1, 2], [3, 0]]))

    assert torch.equal(keys[0], taken.keys[0, :, :2])
    assert torch.equal(torch.zeros(2, 2, 3), taken.keys[0, :, 2:])
    assert torch.equal(values[1], taken.values[1, :, 1:3])


def test_a_slice_is_a_view():
    store = FloatStore(4, 2)
    store.put(0, slice(0, 2), *entries(1, 2))

    assert store.take(0, slice(0, 4)).keys.data_ptr() == store.take(0, slice(0, 1)).keys.data_ptr()


def test_moves_read_all_layers_before_they_write():
    store = FloatStore(2, 3)
    for layer in range(2):
        store.put(layer, slice(0, 4), *entries(1, 4, start=100 * layer))
    store.move(torch.tensor([1, 2, 3]), torch.tensor([0, 1, 2]))

    for layer in range(2):
        assert torch.equal(entries(1, 4, start=100 * layer)[0][:, :, 1:], store.take(layer, slice(0, 3)).keys)


def test_what_a_models_pass_stored_may_be_changed_outside_of_it():
    store = FloatStore(2, 2)
    with torch.inference_mode():
        store.put(0, slice(0, 2), *entries(1, 2))
    store.move(torch.tensor([0]), torch.tensor([1]))

    assert torch.equal(store.take(0, slice(0, 1)).keys, store.take(0, slice(1, 2)).keys)


def test_bytes_a_token_are_counted_over_the_layers():
    store = FloatStore(2, 2)
    store.put(0, slice(0, 1), *entries(1, 1))
    store.put(1, slice(0, 1), *(part.to(torch.int16) for part in entries(1, 1)))

    assert 2 * 6 * (8 + 2) == store.bytes_per_token
