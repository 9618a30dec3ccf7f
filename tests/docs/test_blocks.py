"""A block is exchanged where it stands, whatever stands around it, and put at the end where there is none."""

import blocks

FIRST = blocks.begin("proofs", "proofs")
OTHER = f"{blocks.begin('other', 'measure')}\nkept\n{blocks.END}"


def test_only_the_named_block_is_exchanged():
    text = f"before\n{OTHER}\nbetween\n{FIRST}\nold\n{blocks.END}\nafter\n"

    assert f"before\n{OTHER}\nbetween\n{FIRST}\n\\1 new\n{blocks.END}\nafter\n" == blocks.replaced(
        text, FIRST, r"\1 new"
    )


def test_a_page_without_the_block_has_it_at_its_end():
    once = blocks.replaced(f"{OTHER}\n", FIRST, "new")

    assert f"{OTHER}\n\n{FIRST}\nnew\n{blocks.END}\n" == once
    assert once == blocks.replaced(once, FIRST, "new")


def test_all_blocks_of_a_page_are_found_whole():
    assert [OTHER, f"{FIRST}\n\n{blocks.END}"] == blocks.kept(f"a\n{OTHER}\nb\n{FIRST}\n\n{blocks.END}\nc")
