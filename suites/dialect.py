"""The JSON Schema that canaries are written in: draft 2020-12, every reference to a place in the same schema.

Nothing is fetched: what an answer is worth must follow from the suite alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

REFERENCES = ("$ref", "$dynamicRef")


def validator(schema: Mapping[str, Any]) -> Validator:
    """What tells whether a value is by the schema. It knows no other document, the metaschemas included."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    return Draft202012Validator(dict(schema), registry=Registry())


def complaint(schema: Mapping[str, Any]) -> str | None:
    """Why answers cannot be judged by the schema, in words; None where they can."""
    from jsonschema import SchemaError

    try:
        return _astray(schema)
    except SchemaError as error:
        return f"schema is not a JSON Schema: {error.message:.200}; mend it"
    except RecursionError:
        return "schema is nested too deeply; make it flatter"


def _astray(schema: Mapping[str, Any]) -> str | None:
    """The first reference that leads nowhere. Raises SchemaError where it, or anything else, is no schema."""
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root, seen = DRAFT202012.create_resource(schema), set[int]()
    waiting = [(root, Registry().resolver_with_root(root))]
    while waiting:
        resource, resolver = waiting.pop()
        if id(resource.contents) in seen:
            continue
        seen.add(id(resource.contents))
        Draft202012Validator.check_schema(resource.contents)
        for name in REFERENCES if isinstance(resource.contents, Mapping) else ():
            if (reference := resource.contents.get(name)) is None:
                continue
            try:
                found = resolver.lookup(reference)
            except (Unresolvable, ValueError):  # a ValueError where it is no URL
                return f"schema refers to {reference!r:.80}, which it does not hold; write it under $defs"
            waiting.append((DRAFT202012.create_resource(found.contents), found.resolver))
        waiting += [(part, resolver.in_subresource(part)) for part in resource.subresources()]
    return None
