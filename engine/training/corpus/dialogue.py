"""Dialogues of three to five questions whose later answers need the earlier turns."""

from __future__ import annotations

import json

from .objects import Value, field, shown
from .sample import Sample, turns
from .words import Draw, expand

TELL = {
    "called": expand("(My|Our) {} is called {}.", "(I named|We named) (my|our) {} {}.", "The name of my {} is {}."),
    "with": expand("(My|Our) {} is with {}.", "(I gave|I lent) my {} to {}.", "{1} (has|keeps|looks after) my {0}."),
    "code": expand("(The code of|The number of) my {} is {}.", "My {} has the (code|number) {}."),
}
ASK = {
    "called": expand("What is my {} called?", "(Tell me|Say|What is) the name of my {}(?|.)", "How did I name my {}?"),
    "with": expand("Who (has|keeps) my {}(?| now?)", "(Where|With whom) is my {}?", "(Tell me|Say) who has my {}."),
    "code": expand("(What is|Tell me|Say) the (code|number) of my {}(?|.)", "Which (code|number) has my {}?"),
}
REPLY = {"called": "Your {} is called {}.", "with": "Your {} is with {}.", "code": "The code of your {} is {}."}
NOTED = ("Noted.", "I see.", "Good to know.", "I will remember that.")
CHAT = (
    *(("How are you?", "I am fine."), ("Hello!", "Hello."), ("Thank you.", "You are welcome."), ("Good.", "Yes.")),
    *(("Wait a moment.", "I will wait."), ("Are you still there?", "I am here."), ("That is nice.", "It is.")),
)
CALL = expand("(Call the user|The user is called|You talk with|Your user is) {}( and say so each time|).")
START = expand("(Start|Begin|Make|Keep) a list( with|:| of) {}.", "(My list|The list|On my list): {}.")
ADD = expand("(Add|Append|Put on the list|Now add)( also|) {}.", "(Also|And) {}.")
REMOVE = expand("(Remove|Delete|Take away|Drop|Take off) {}( again| now| from it|).")
WHOLE = expand("(Show|Say|Give|What is|Repeat) the (whole list|list)( now| again|)(?|.)")
FIRST = expand("(What is|Which is|Say|Give) (the first|the last)( one| item|)(?|.)")
MAKE = expand("(Write|Make|Give|Start) (JSON|an object|a record)( with| of|:) {}.")
SET = expand("(Change|Set|Now set) {} to {}.", "{} (is now|should be|becomes) {}.")
MORE = expand("(Add|Also add|Now add) {} (=|with value|as) {}.")
LESS = expand("(Remove|Delete|Drop|Leave out)( the field|) {}( now| again|).")
WRITE = expand("(Write|Say|Take) (the words|these words|the line)(:|) {}.")
SWAP = expand("(Replace|Change) {} (by|with|into) {}.", "(Put|Write|Use) {1} (instead of|for|in place of) {0}.")
TURN = expand("(Now |Then |)(reverse|turn round|write backwards) (the order|them|the words).")
END = expand("(Now |Then |)(put|add|write) {} at the (end|start).")
HAVE = expand("(I have|There are|We have|I own) {} {}.")
GAIN = expand("(I get|I find|I buy|We add) {} more.", "{} more (come|arrive).")
LOSE = expand("(I lose|I sell|I give away|We drop) {}( of them|).", "{} (go away|get lost).")
HOW_MANY = expand("How many( {0}|) (do I have|are there|are left)( now|)?")


def dialogue(draw: Draw) -> Sample:
    """One of the plots below."""
    return draw.of((_facts, _facts, _list, _record, _line, _amount))(draw)


def _facts(draw: Draw) -> Sample:
    """Facts are told, then asked for; a system prompt may name the user, who is then addressed."""
    person = draw.person() if draw.chance(0.3) else ""
    ending = f", {person}." if person else "."
    facts = [(draw.of(tuple(TELL)), thing) for thing in draw.distinct(draw.thing, draw.number(1, 3))]
    values = [draw.identifier() if kind == "code" else draw.of((draw.person, draw.word))() for kind, _ in facts]
    told = [
        (draw.order(TELL[kind]).format(thing, value), draw.of(NOTED))
        for (kind, thing), value in zip(facts, values, strict=True)
    ]
    pairs = [pair for step in told for pair in ([step, draw.of(CHAT)] if draw.chance(0.2) else [step])]
    asked = draw.rng.sample(range(len(facts)), draw.number(1, min(2, len(facts))))
    for place in asked:
        kind, thing = facts[place]
        pairs.append((draw.order(ASK[kind]).format(thing), REPLY[kind].format(thing, values[place])))
    if len(pairs) < 3:  # noqa: PLR2004
        pairs.insert(1, draw.of(CHAT))
    system = draw.order(CALL).format(person) if person else ""
    return _sample([(question, answer.removesuffix(".") + ending) for question, answer in pairs], system)


def _list(draw: Draw) -> Sample:
    """A list that grows and shrinks; each answer is the whole list, or the item asked for."""
    make = draw.of((draw.word, draw.thing, draw.person))
    items = draw.distinct(make, draw.number(2, 3))
    pairs = [(draw.order(START).format(", ".join(items)), ", ".join(items))]
    for _ in range(draw.number(2, 4)):
        step = draw.of(("add", "add", "remove", "ask", "whole"))
        if step == "add":
            added = [name for name in draw.distinct(make, draw.of((1, 1, 2))) if name not in items] or [make()]
            items = [*items, *added]
            pairs.append((draw.order(ADD).format(", ".join(added)), ", ".join(items)))
        elif step == "remove" and len(items) > 1:
            gone = draw.of(items)
            items = [name for name in items if name != gone]
            pairs.append((draw.order(REMOVE).format(gone), ", ".join(items)))
        elif step == "ask":
            order = draw.order(FIRST)
            pairs.append((order, items[0] if "first" in order else items[-1]))
        else:
            pairs.append((draw.order(WHOLE), ", ".join(items)))
    return _sample(pairs)


def _record(draw: Draw) -> Sample:
    """A JSON object that is changed step by step."""
    record: dict[str, Value] = {
        name: field(draw, name, free=True).value for name in draw.distinct(draw.key, draw.number(1, 3))
    }
    pairs = [(draw.order(MAKE).format(", ".join(f"{k}={shown(v)}" for k, v in record.items())), json.dumps(record))]
    for _ in range(draw.number(2, 3)):
        step = draw.of(("set", "set", "more", "less"))
        name = draw.key() if step == "more" else draw.of(list(record))
        if step == "less" and len(record) > 1:
            del record[name]
            order = draw.order(LESS).format(name)
        else:
            record[name] = field(draw, name, free=True).value
            order = draw.order(MORE if step == "more" else SET).format(name, shown(record[name]))
        pairs.append((order, json.dumps(record)))
    return _sample(pairs)


def _line(draw: Draw) -> Sample:
    """A line of words that is edited."""
    words = draw.distinct(draw.word, draw.number(2, 4))
    pairs = [(draw.order(WRITE).format(" ".join(words)), " ".join(words))]
    for _ in range(draw.number(2, 3)):
        step = draw.of(("swap", "swap", "turn", "end"))
        if step == "turn":
            words, order = words[::-1], draw.order(TURN)
        elif step == "end":
            new, order = draw.word(), draw.order(END)
            words = [*words, new] if order.endswith("end.") else [new, *words]
            order = order.format(new)
        else:
            old, new = draw.of(words), draw.word()
            words, order = [new if w == old else w for w in words], draw.order(SWAP).format(old, new)
        pairs.append((order[0].upper() + order[1:], " ".join(words)))
    return _sample(pairs)


def _amount(draw: Draw) -> Sample:
    """Things counted up and down by small numbers."""
    thing, have = draw.thing() + "s", draw.number(2, 9)
    pairs = [(draw.order(HAVE).format(have, thing), draw.of(NOTED))]
    for _ in range(draw.number(1, 2)):
        change = draw.number(1, 4)
        if draw.chance(0.6) or change > have:
            have, order = have + change, draw.order(GAIN)
        else:
            have, order = have - change, draw.order(LOSE)
        pairs.append((order.format(change), f"{have} {thing}."))
    pairs.append((draw.order(HOW_MANY).format(thing), f"{have} {thing}."))
    return _sample(pairs)


def _sample(pairs: list[tuple[str, str]], system: str = "") -> Sample:
    return Sample(messages=turns(*(text for pair in pairs for text in pair), system=system))
