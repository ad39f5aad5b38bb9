"""Hints: what people type that is not there, and the call that does what they mean.

A table for attributes, one for keywords. They are looked at only when an attribute or a call has
failed, so what exists costs nothing; `hasattr`, `dir` and type checkers see none of it.
"""

import inspect
import re
from abc import ABCMeta
from collections.abc import Callable
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec, TypeVar

from messagebody._base.text import nearest, quote

P = ParamSpec("P")
R = TypeVar("R")
_Class = TypeVar("_Class", bound=type)


def _table(text: str) -> dict[str, str]:
    """Return advice by name; in the text, indented advice follows the names that it is for."""
    found: dict[str, str] = {}
    for names, advice in re.findall(r"^(\S.*(?:\n\S.*)*)\n((?:    .*\n)+)", text, re.MULTILINE):
        for name in names.split():
            found[name] = " ".join([found.get(name, ""), *advice.split()]).strip()
    return found


_BODY: Final = _table("""
texts
    body.text joins the unnamed texts, body.unnamed('text/*') lists them
content contents message string as_text to_text to_string get_text get_message_text
output_text full_text to_markdown markdown
    body.text is the text that a reader sees
images pictures
    body.list(content_type='image/*') and body.unnamed('image/*') list them
audio sounds
    body.list(content_type='audio/*') and body.unnamed('audio/*') list them
videos
    body.list(content_type='video/*') and body.unnamed('video/*') list them
files attachments sources documents
    body.list() lists the named parts
parts items values all to_list
    a body is the list of its parts: list(body), body[0]
keys
    body.names() gives the names
paths ls filenames listdir
    body.names() gives the names, body.list('/sources/*') parts
to_dict dict model_dump as_dict asdict
    body.to_dicts() gives the parsed JSON
json dump dumps serialize model_dump_json encode
    body.to_json() writes JSON
add_text append_text add_message
    body.add(text) adds it, with name=… and content_type=…
add_image add_file add_json add_bytes add_data add_part add_content add_audio add_table
attach attach_file put push write_text write_bytes
    body.add(…) takes text, bytes, a Path, JSON, and pictures, figures and tables
write dump_to write_to to_file save_to
    body.save(path) writes a file of JSON, body.add(…) adds a part
add_url add_link add_reference
    body.add(url=…) adds a reference
add_all add_parts update merge concat
    body.extend(other) adds parts; a + b is a new body
filter find search where match query
    body.list('/sources/*', content_type='text/*') picks parts, body.select('/sources/*') is a body
    of them
find_by_name find_one get_part part by_name
    body['/name'] is a part, body.get('/name') gives None if it is missing
first
    body[0] is the first part
last
    body[-1] is the last part
has exists contains has_key
    '/name' in body says it
length
    len(body) is the number of parts
size nbytes total_size
    len(body) is the number of parts, sum(part.size or 0 for part in body) their bytes
set replace setdefault overwrite
    body['/name'] = content replaces or adds a part
sort sorted order
    MessageBody(sorted(body, key=…)) has another order
rename
    body.move(old, new) renames a part, with relink=True links follow
delete unlink rm discard
    body.remove('/name') removes a part, as del body['/name']
read open read_bytes get_bytes
    body['/name'].read_bytes() reads a part; body.fs opens it; MessageBody.load(…) reads a message
hash sha256 checksum etag id
    body.digest identifies the content
offload upload to_s3 store externalize
    messagebody.offload(body, 's3://…') does it
inline download fetch resolve
    messagebody.inline(body, resolver=…) does it
present sign
    messagebody.present(body) makes URLs that others can read
validate is_valid conforms matches check
    schema.validate(body) and schema.is_valid(body) ask the schema
violations errors
    schema.iter_violations(body) gives them
schema infer_schema get_schema
    MessageBodySchema.infer(body) makes a schema
lint findings
    messagebody.findings.iter_findings(body) gives likely mistakes
walk
    body.fs.walk('/') walks the directories, body.list('/**') gives the named parts
citations references backlinks cited_by
    body.links() lists what parts say of each other
show view render to_html html page
    messagebody.rendering.page(body) is a page of HTML
tree print pprint
    print(messagebody.rendering.tree(body)) shows it
to_prompt prompt to_llm for_model
    messagebody.prompts.to_prompt(body, budget) makes one
zip to_zip
    messagebody.archives writes ZIP, TAR and MIME
pack
    messagebody.archives.directory.pack(path) makes a body of files, messagebody.archives
    writes ZIP, TAR and MIME
unpack to_directory extract save_files
    messagebody.archives.directory.unpack(body, …) writes the parts to files
to_openai to_openai_chat to_message to_messages to_provider convert
    messagebody.adapters.write('openai-chat', body) writes the message of a format
to_anthropic to_claude
    messagebody.adapters.write('anthropic', body) writes the message of a format
to_gemini to_google
    messagebody.adapters.write('gemini', body) writes the message of a format
to_langchain
    messagebody.adapters.write('langchain', body) writes the message of a format
to_a2a
    messagebody.adapters.write('a2a', body) writes the message of a format
to_mcp
    messagebody.adapters.write('mcp', body) writes the message of a format
metadata role
    a body has no metadata; it belongs to the message around it, or to a part
from_text from_string from_str from_content from_parts from_list of create new
    MessageBody([…]) takes parts, texts, paths and objects
from_url from_uri from_s3 read_json from_file open_file from_path
    MessageBody.load(…) reads a path or the URL of a store
from_dict parse_obj model_validate validate_python
    MessageBody.from_dicts(…) reads parsed JSON
parse loads parse_raw model_validate_json decode deserialize
    MessageBody.from_json(…) reads JSON
from_files from_directory from_dir from_folder
    messagebody.archives.directory.pack(path) makes a body of files
from_zip from_archive
    messagebody.archives reads ZIP, TAR and MIME
from_openai from_openai_chat from_chat from_message from_messages
    messagebody.adapters.adapter('openai-chat').to_body(message).value reads one
from_anthropic from_claude
    messagebody.adapters.adapter('anthropic').to_body(message).value reads one
from_gemini from_google
    messagebody.adapters.adapter('gemini').to_body(message).value reads one
from_langchain
    messagebody.adapters.adapter('langchain').to_body(message).value reads one
from_a2a
    messagebody.adapters.adapter('a2a').to_body(message).value reads one
from_mcp
    messagebody.adapters.adapter('mcp').to_body(message).value reads one
""")

_PART: Final = _table("""
content body value payload
    part.read_text() and part.read_bytes() read the content
data bytes raw blob to_bytes read get_bytes buffer read_binary inline_data
    part.read_bytes() reads the content
json parsed load loads as_json
    part.read_json() reads the content as JSON
to_text as_text get_text decode
    part.read_text() reads the content
contentType type mime mime_type mimetype mimeType media_type mediaType kind format
    it is part.content_type
contentUrl uri href link source src
    it is part.url
filename file_name fileName basename key id title
    it is part.name
stem suffix extension ext parent
    part.path is the name as a path
length nbytes bytes_count content_length
    it is part.size
hash sha256 checksum etag
    it is part.digest
meta annotations attributes
    it is part.metadata
base64 b64 to_base64
    base64.b64encode(part.read_bytes()) is its base64
to_pil pil to_image as_image pil_image
    PIL.Image.open(part.open()) opens a picture
image
    PIL.Image.open(part.open()) opens a picture;
image from_text from_string from_bytes from_data from_content from_value from_object
from_pil from_dataframe from_image from_base64 from_any create of new
    Part(…) takes text, bytes, a Path, JSON, and pictures, figures and tables
to_pandas df dataframe to_df
    pandas.read_csv(part.open()) reads a table
to_dict dict model_dump as_dict
    MessageBody([part]).to_dicts()[0] is its JSON, parsed
to_json model_dump_json
    MessageBody([part]).to_json() writes JSON
save write download write_to to_file dump
    Path(…).write_bytes(part.read_bytes()) writes it
is_image is_picture
    part.content_type.startswith('image/') says it
is_binary
    part.is_text says the opposite
is_remote is_url is_link
    it is part.is_reference
replace copy update with_name with_content set
    part.evolve(name=…) returns another part
rename move
    body.move(old, new) renames a part of a body, part.evolve(name=…) any other
offload upload
    messagebody.offload(body, 's3://…') moves the large parts of a body
fetch inline resolve
    part.read_bytes(resolver) reads a reference
show display render
    messagebody.rendering.page(MessageBody([part])) is a page of HTML
from_file from_path file open_file
    Part(Path(…)) takes a file
from_url from_uri from_reference from_link
    Part(url=…) is a reference
from_json from_dict parse model_validate from_dicts
    MessageBody.from_dicts([…])[0] reads a part
""")

_SCHEMA: Final = _table("""
check
    schema.is_valid(body) asks about a body, messagebody.check(producer, consumer) compares two
    schemas
is_compatible compatible compatible_with is_compatible_with fits accepts_schema
covers is_subset is_subset_of issubset compare
    messagebody.check(producer, consumer) compares two schemas
matches accepts conforms is_instance validates test valid
    schema.is_valid(body) says it
errors iter_errors violations get_errors findings
    schema.iter_violations(body) gives them
add append insert
    a schema doesn't change; MessageBodySchema([*schema, …]) is another
required
    [part for part in schema if part.required] are the required parts
dump dumps serialize model_dump_json
    schema.to_json() writes JSON
to_dict model_dump dict as_dict
    schema.to_dicts() gives the parsed JSON
json_schema to_json_schema model_json_schema schema
    messagebody.schema.json_schemas.body_json_schema() is the JSON Schema of bodies
evolve diff evolution
    messagebody.compatibility.evolution(old, new) compares versions
explain summary print
    schema.describe() says it in words
example sample
    messagebody.compatibility.satisfiable(schema).witness is a valid body
from_list from_parts of create new
    MessageBodySchema([…]) takes schema parts and tuples
from_file read open from_path from_url
    MessageBodySchema.load(…) reads a file
from_dict parse_obj model_validate
    MessageBodySchema.from_dicts(…) reads parsed JSON
parse loads parse_raw model_validate_json
    MessageBodySchema.from_json(…) reads JSON
from_body from_bodies from_example from_examples from_sample
    MessageBodySchema.infer(body) makes a schema of examples
""")

_SCHEMA_PART: Final = _table("""
pattern path glob key
    it is part.name
type mime_type media_type contentType mimetype
    it is part.content_type
schema json_schema model contentSchema contents
    it is part.content_schema
optional
    part.required says the opposite
matches
    part.accepts(name, content_type) says it
""")

_ROOT: Final = _table("""
Body Message MultimodalMessage MessageBodyFS
    MessageBody is the class
Schema BodySchema MessageSchema
    MessageBodySchema is the class
load open read load_body
    MessageBody.load(…) reads a path or the URL of a store
loads parse from_json
    MessageBody.from_json(…) reads JSON
dumps dump to_json
    body.to_json() writes JSON
save
    body.save(path) writes a file
validate is_valid
    schema.validate(body) and schema.is_valid(body) ask the schema
is_compatible compatible can_connect compare issubset
    check(producer, consumer) says it
infer infer_schema
    MessageBodySchema.infer(body) makes a schema
convert to_openai to_anthropic from_openai from_anthropic transform
    messagebody.adapters has adapter(format).to_body(…), from_body(…), and write(format, body)
upload externalize
    offload(body, 's3://…') does it
download resolve
    inline(body, resolver=…) does it
view show render
    messagebody.rendering.page(body) is a page of HTML
prompt
    messagebody.prompts.to_prompt(body, budget) makes one
Store S3Store connect stores
    messagebody.storage.open_store(url) opens a store
pack unpack
    messagebody.archives.directory packs and unpacks directories
sign presign
    messagebody.present(body, resolver=…) makes URLs that others can read
formats list_formats
    messagebody.adapters.adapter_names() lists the formats
interop integrations
    messagebody.frameworks has a module for each framework, messagebody.adapters the formats
prompting
    messagebody.prompts.to_prompt(body, budget) makes a prompt
ValidationError
    messagebody.errors.InvalidBody is raised for an invalid body
register
    messagebody.adapters.register adds a format, register_content a class of objects
""")

_RENDERING: Final = _table("""
show display view html to_html render html_page body_page
    messagebody.rendering.page(body) is a page of HTML
text summary print pprint
    messagebody.rendering.tree(body) and messagebody.rendering.listing(body) are lines of text
""")

_ADAPTERS: Final = _table("""
read parse to_body from_message decode
    messagebody.adapters.adapter('openai-chat').to_body(message).value reads a message
from_body to_message encode dump dumps
    messagebody.adapters.write('openai-chat', body) writes a message
convert transform
    messagebody.adapters.adapter('openai-chat').to_body(message).value reads one format,
    messagebody.adapters.write('anthropic', body) writes another
to_openai to_anthropic to_gemini to_claude to_langchain to_a2a to_mcp openai claude
    messagebody.adapters.write('openai-chat', body) writes the message of a format
from_openai from_anthropic from_gemini from_claude from_langchain from_a2a from_mcp
    messagebody.adapters.adapter('openai-chat').to_body(message).value reads one
formats list_formats names available get_adapter list
    messagebody.adapters.adapter_names() lists the formats,
    messagebody.adapters.adapter('a2a') is one
pack unpack
    messagebody.archives.directory packs and unpacks directories
zip tar mime
    messagebody.archives reads and writes them
""")

_ADAPTER: Final = _table("""
read parse load loads decode convert from_message to_parts
    messagebody.adapters.adapter('openai-chat').to_body(message).value reads a message
write dump dumps encode to_message from_parts
    messagebody.adapters.write('openai-chat', body) writes a message
""")

_RESOLVER: Final = _table("""
get read open download read_bytes load
    part.read_bytes(resolver) reads a reference, part.open(resolver) opens it
resolve inline
    messagebody.inline(body, resolver=…) puts the content of references into a body
add allow
    Resolver(allow=[…]) takes all that may be read
can_read is_allowed
    resolver.allows(url) says it
""")

_REGISTRY: Final = _table("""
add register append insert set update add_agent
    registry.put(agent) adds an agent or replaces one, registry.put_all(agents) several
load open read from_file from_path
    Registry.from_directory(…) reads the files of agents, Registry(path=…) opens a registry
save dump
    Registry(path=…) keeps the agents in a file
agents
    registry.values() has the agents, list(registry) their names
compatible is_compatible can_talk connect
    registry.check(sender, taker) says it, registry.takers(name) lists all who fit
find find_route path
    registry.takers(name) lists who takes the messages, registry.route(sender, taker) is the way
delete discard unregister
    registry.remove(name) removes an agent
""")

_BULK: Final = _table("""
read load open iterate iter scan apply process
    messagebody.bulk.map(sources, function, out=…) calls a function with each message
lint check findings
    messagebody.bulk.validate(sources, schema, out=…) finds invalid messages
""")

_COMPATIBILITY: Final = _table("""
is_compatible compatible compare is_subset issubset fits
    messagebody.check(producer, consumer) says it
diff changes
    messagebody.compatibility.evolution(old, new) compares versions
""")

_ERRORS: Final = _table("""
ValidationError InvalidMessage Invalid BodyError
    InvalidBody is raised for an invalid body
SchemaError InvalidSchemaError
    InvalidSchema is raised for an invalid schema
PartNotFoundError NotFound NotFoundError MissingPart
    PartNotFound is raised for a missing part, ObjectNotFound for a missing object
Error MessageBodyException BaseError
    MessageBodyError is the base of all errors
ParseError JSONDecodeError
    DecodeError is raised for JSON that is not a body
""")

_FINDINGS: Final = _table("""
lint find check findings validate
    messagebody.findings.iter_findings(body) gives likely mistakes
""")

_FRAMEWORKS: Final = _table("""
openai
    messagebody.adapters.adapter('openai-chat').to_body(message).value reads a message,
    messagebody.adapters.write('openai-chat', body) writes one
anthropic claude
    messagebody.adapters.adapter('anthropic').to_body(message).value reads a message,
    messagebody.adapters.write('anthropic', body) writes one
gemini google
    messagebody.adapters.adapter('gemini').to_body(message).value reads a message,
    messagebody.adapters.write('gemini', body) writes one
fastapi
    messagebody.frameworks.pydantic is for models and for FastAPI
crewai autogen dspy semantic_kernel
    messagebody.adapters.adapter_names() lists the formats; most frameworks read openai-chat
""")

_GLOBS: Final = _table("""
match matches fnmatch compile translate Pattern is_match
    messagebody.globs.name_pattern(pattern) and messagebody.globs.content_type_pattern(pattern)
    read patterns
glob filter
    body.glob(pattern) and body.list(pattern) give the parts that match
""")

_SAMPLES: Final = _table("""
load read open get files names list
    messagebody.samples.sample('chart.png') is a sample file
example examples body message
    messagebody.samples.example_body('chat') is an example
""")

_SCHEMA_MODULE: Final = _table("""
load read open
    MessageBodySchema.load(…) reads a file
loads parse
    MessageBodySchema.from_json(…) reads JSON
validate is_valid
    schema.validate(body) and schema.is_valid(body) ask the schema
Schema BodySchema
    MessageBodySchema is the class
infer
    MessageBodySchema.infer(body) makes a schema
""")

_TESTING: Final = _table("""
assert_valid assert_body check_body validate
    schema.validate(body) raises for an invalid body
""")

_VIEWS: Final = _table("""
Path BodyPath PartPath path
    messagebody.views.path_into(body) is the path of a body
""")

ATTRIBUTES: Final = {
    "MessageBody": _BODY,
    "Part": _PART,
    "MessageBodySchema": _SCHEMA,
    "SchemaPart": _SCHEMA_PART,
    "messagebody": _ROOT,
    "Resolver": _RESOLVER,
    "Registry": _REGISTRY,
    "adapter": _ADAPTER,
    "Format": _ADAPTER,
    "adapters": _ADAPTERS,
    "bulk": _BULK,
    "compatibility": _COMPATIBILITY,
    "errors": _ERRORS,
    "findings": _FINDINGS,
    "frameworks": _FRAMEWORKS,
    "globs": _GLOBS,
    "samples": _SAMPLES,
    "schema": _SCHEMA_MODULE,
    "testing": _TESTING,
    "views": _VIEWS,
    "rendering": _RENDERING,
}
"""Advice for attributes that do not exist, by the class or module that is asked."""

KEYWORDS: Final = _table("""
type media_type mediatype mime mime_type mimetype mimeType mediaType contentType kind format
    content_type content_types
filename file_name key title id part_name glob path pattern only
    name names pattern
names name globs
    pattern names name
prefixes prefix urls stores allowed allowlist allow_list whitelist
    allow
text body value file image payload source obj message
    content body
bytes length nbytes
    size
uri href link contentUrl src reference
    url
sha256 hash checksum
    digest
meta annotations extras
    metadata
min_size size min_bytes larger_than above cutoff inline_limit max_inline limit
    threshold max_bytes
store_url bucket target destination to root
    store
options credentials settings client_kwargs
    storage_options
allow
    resolver
ttl expiry expires_in expiration lifetime seconds
    expires
optional mandatory must
    required
schema json_schema jsonschema model contentSchema contents shape
    content_schema
doc comment help about
    description
max_tokens tokens max_size
    budget max_bytes
tokenizer counter count_tokens encoder
    count
progress on_progress
    callback
mimes types media_types mime_types
    content_types content_type
items elements
    parts
source output sender
    producer
sink input receiver target
    consumer
strict
    lenient
""")
"""The keywords that people may mean by another one."""


_CONTENT: Final = "content= takes text, bytes, a Path, JSON, pictures, figures and tables"
_FILE: Final = "content=Path(…) takes a file; name= is what it is called in the body"
MEANT: Final = {
    "Part": _table(f"""
path file filepath file_path files
    {_FILE}
data bytes text body value image picture object obj df frame dataframe table figure binary raw
payload
    {_CONTENT}
json
    content= takes a dict or list, body.add(json=…) any JSON value
base64
    content=base64.b64decode(…) takes its bytes
""")
}
"""What keywords of one call mean, where it is more than the name of another."""


def missing_attribute(value: object, name: str) -> AttributeError:
    """Return the error for an attribute that an object or a class does not have.

    Arguments:
        value: what was asked.
        name: the attribute.
    """
    cls = value if isinstance(value, type) else type(value)
    kind = f"type object {cls.__name__!r}" if cls is value else f"{cls.__name__!r} object"
    problem = f"{kind} has no attribute {name!r}"
    for each in cls.__mro__:
        if found := ATTRIBUTES.get(each.__name__, {}).get(name):
            # Without the object: Python would add the attribute that is spelt most like it.
            return AttributeError(f"{problem}; {found}", name=name)
    return AttributeError(problem, name=name, obj=value)


class Guided(type):
    """The class of classes whose missing attributes lead on."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> NoReturn:
            raise missing_attribute(cls, name)


class GuidedABC(Guided, ABCMeta):
    """`Guided`, for classes that implement abstract ones."""


def guided(function: Callable[P, R]) -> Callable[P, R]:
    """Let a call with arguments that a function does not take say which ones are meant.

    Arguments:
        function: the function.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            problem = _misfit(function, args, kwargs)
            if problem is None:  # it comes from inside the call
                raise
        raise TypeError(problem)

    return call


def guided_init(cls: _Class) -> _Class:
    """Let the constructor of a class lead on; see `guided`."""
    setattr(cls, "__init__", guided(vars(cls)["__init__"]))  # noqa: B010 - mypy refuses `cls.__init__ =`
    return cls


def _misfit(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | None:
    """Return which arguments a call does not take and what is meant, or None if it takes all."""
    parameters = [*inspect.signature(function).parameters.values()]
    by_position = [each.name for each in parameters if each.kind <= each.POSITIONAL_OR_KEYWORD]
    takes = [each.name for each in parameters if each.kind in _BY_NAME and each.name != "self"]
    kinds = {each.kind for each in parameters}
    called = _called(function, args)
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        unknown = [name for name in kwargs if name not in takes]
        if unknown:
            advice = "; ".join(_meant(called, name, takes) for name in unknown)
            return f"{called}() takes no {' and no '.join(unknown)}; {advice}"
    if inspect.Parameter.VAR_POSITIONAL not in kinds and len(args) > len(by_position):
        extra = args[len(by_position)]
        count = len(by_position) - ("self" in by_position)
        limit = f"only {count} by position" if count else "no value by position"
        free = [name for name in takes if name not in by_position]
        if inspect.Parameter.VAR_KEYWORD in kinds:  # those of `Part`
            free += _SPELLINGS
        advice = _INSTEAD.get(called) or _named(extra, free)
        return f"{called}() takes {limit}, got one more, {quote(extra)}; {advice}"
    return None


# What those mean who give a call more arguments than it takes.
_INSTEAD: Final = _table("""
MessageBody
    MessageBody([…]) takes the parts in one list
MessageBody.names
    body.list('/sources/*') gives the parts that match a pattern
MessageBody.read_text
    body['/name'].read_text() reads a part
""")


def _called(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return how a function was called: a method by the class of its object."""
    owner, dot, name = function.__qualname__.rpartition(".")
    owner = type(args[0]).__name__ if dot and args else owner
    return owner if name == "__init__" else f"{owner}{dot}{name}"


_BY_NAME: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


def _meant(called: str, keyword: str, takes: list[str]) -> str:
    if advice := MEANT.get(called, {}).get(keyword):
        return advice
    for meant in KEYWORDS.get(keyword, "").split():
        if meant in takes:
            return f"{keyword}= is {meant}= here"
    near = nearest(keyword, takes)
    return f"did you mean {near}=?" if near else f"it takes {_listed(takes)}"


def _named(value: object, free: list[str]) -> str:
    """Return how to pass a value by name that came by position."""
    for name, pattern in _SPELLINGS.items():
        if name in free and isinstance(value, str) and pattern.match(value):
            return f"pass {name}={quote(value, limit=80)}"
    if (own := type(value).__name__.lower()) in free:
        return f"pass {own}=…"
    if isinstance(value, str | PathLike) and str(value).endswith(".html"):
        return "it returns the page, which Path(…).write_text(page) writes"
    if "resolver" in free and (isinstance(value, PathLike) or _is_url(value)):
        return "pass resolver=Resolver(allow=[…])"
    return f"name it: {_listed(free)}" if free else "it takes no more"


# How values look that people pass by position, by the argument that they mean.
_SPELLINGS: Final = {
    "url": re.compile(r"[a-z][a-z0-9+.-]*://"),
    "name": re.compile("/"),
    "content_type": re.compile(r"[a-z*]+/[a-z*]"),
}


def _is_url(value: object) -> bool:
    return isinstance(value, str) and _SPELLINGS["url"].match(value) is not None


def _listed(names: list[str]) -> str:
    return ", ".join(f"{name}=" for name in names)
