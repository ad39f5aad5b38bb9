"""What the leaves build on: the face of the core's inside.

It is not public, but stable inside the package: a leaf imports the public modules of the core, and
from this one what no user needs. `tests/test_imports.py` holds the line. A name is loaded from its
module when it is first asked for.
"""

from typing import TYPE_CHECKING

from messagebody._base.faces import face

if TYPE_CHECKING:
    from messagebody._base import plugins, sniffing
    from messagebody._base.budget import DEFAULT_STEPS, Budget, OutOfBudget
    from messagebody._base.digests import (
        DIGEST_PATTERN,
        KEY_PREFIX,
        NO_DIGEST,
        Hasher,
        digest_of_stream,
        from_hex_digits,
        hex_digits,
        is_digest,
        key_of,
        raw_digest,
        sha256_of,
    )
    from messagebody._base.documents import in_document, not_json, read_document
    from messagebody._base.files import (
        APPEND,
        CREATE,
        DIRECTORY,
        NO_LINKS,
        TEMPORARY_PATTERN,
        all_or_nothing,
        open_parent,
        open_regular,
        read_at_most,
        read_regular,
        replace_file,
        replace_unchanged,
        temporary_name,
    )
    from messagebody._base.guards import (
        is_store_url,
        is_url,
        is_web_url,
        require_body,
        require_executor,
        require_iterable,
        require_limits,
        require_parts,
        require_path,
        require_resolver,
        require_schema,
        require_token,
        schema_of_parts,
    )
    from messagebody._base.hints import Guided, GuidedABC, guided, missing_attribute
    from messagebody._base.leaves import FoundTuple
    from messagebody._base.limits import CHUNK, DEFAULT_LIMITS, MIB, Limits, parse_size
    from messagebody._base.media_types import (
        COMMON,
        DOCUMENT_TOP_LEVEL,
        EXTENSIONS,
        JSON,
        MAX_LENGTH,
        MEDIA_TOP_LEVELS,
        OCTET_STREAM,
        PLAIN_CHARSETS,
        TEXT_PLAIN,
        WELL_KNOWN,
        by_usual_name,
        canonical,
        check_content_type,
        essence,
        extension_of,
        is_json,
        is_shown_inline,
        is_text,
        may_be,
        parse_content_type,
        stated_charset,
        top_level_of_range,
        unspecified,
        unspecified_in,
    )
    from messagebody._base.text import (
        answer_repr,
        count_of,
        did_you_mean,
        escape,
        human_size,
        nearest,
        quote,
        redact_places,
        redact_url,
        redact_urls,
        xml_attribute,
        xml_content,
    )
    from messagebody._base.threads import (
        PATIENCE,
        Interrupted,
        Pool,
        gather,
        results_in_order,
    )
    from messagebody._model.access import (
        access_of,
        body_like,
        body_of,
        body_of_text,
        columns,
        edit,
        only_text,
        only_text_of,
        part_of,
        part_of_text,
        part_of_url,
        parts_of,
        record_of,
        redescribed,
        resolver_of,
    )
    from messagebody._model.body import MessageBody
    from messagebody._model.content import LocalFile, Reference
    from messagebody._model.links import Link, LinkKind, Links, TextRange
    from messagebody._model.part import Part
    from messagebody._wire import (
        base64,
        data_urls,
        exact_json,
        lines,
        manifest,
        reader,
        strict_json,
    )
    from messagebody._wire.data_urls import is_data_url
    from messagebody._wire.manifest import UNLISTED, unlisted
    from messagebody._wire.members import (
        MEMBERS,
        PartRecord,
        RichRecord,
        check_about,
        check_extra,
        check_object,
        check_part_name,
        check_text,
        inline_size,
        piece_members,
        piece_of,
    )
    from messagebody._wire.state import members_of
    from messagebody._wire.walk import (
        NESTED,
        TooDeep,
        containers,
        leaf_problem,
        rebuild,
        text_problem,
    )
    from messagebody.globs._wide import wide_pattern
    from messagebody.schema._contents import JSON_TYPES
    from messagebody.schema._words import in_words
    from messagebody.storage._offloading._mentions import digests_of
    from messagebody.storage._references.reader import read_web
    from messagebody.storage._references.spool import SpoolBlob
    from messagebody.storage._stores.directory import FileStore
    from messagebody.storage._stores.documents import read_url
    from messagebody.storage._stores.messages import (
        MESSAGE_SUFFIX,
        OneStoredMessage,
        StoredMessage,
        StoredMessages,
        is_message_key,
        messages_at,
    )

else:
    __getattr__, __dir__ = face(
        __name__,
        {
            # The body, its parts and their records.
            ".._model.body": "MessageBody",
            ".._model.part": "Part",
            ".._model.links": "Link LinkKind Links TextRange",
            ".._model.content": "LocalFile Reference",
            ".._model.access": "access_of body_like body_of body_of_text columns edit only_text "
            "only_text_of part_of part_of_text part_of_url parts_of record_of redescribed "
            "resolver_of",
            ".._wire.members": "MEMBERS PartRecord RichRecord check_about check_extra "
            "check_object check_part_name check_text inline_size piece_members piece_of",
            ".._wire.state": "members_of",
            # JSON, read strictly and written exactly.
            ".._wire": "base64 data_urls exact_json lines manifest reader strict_json",
            ".._wire.data_urls": "is_data_url",
            ".._wire.manifest": "UNLISTED unlisted",
            ".._wire.walk": "NESTED TooDeep containers leaf_problem rebuild text_problem",
            ".._base.documents": "in_document not_json read_document",
            # Limits, budgets, sizes and media types.
            ".._base.budget": "Budget DEFAULT_STEPS OutOfBudget",
            ".._base.limits": "CHUNK DEFAULT_LIMITS Limits MIB parse_size",
            ".._base.media_types": "COMMON EXTENSIONS JSON MAX_LENGTH OCTET_STREAM "
            "DOCUMENT_TOP_LEVEL MEDIA_TOP_LEVELS PLAIN_CHARSETS TEXT_PLAIN WELL_KNOWN "
            "by_usual_name canonical check_content_type essence extension_of is_json "
            "is_shown_inline is_text may_be parse_content_type stated_charset top_level_of_range "
            "unspecified unspecified_in",
            ".._base": "plugins sniffing",
            # Text of strangers, made safe to show.
            ".._base.text": "answer_repr count_of did_you_mean escape human_size nearest quote "
            "redact_places redact_url redact_urls xml_attribute "
            "xml_content",
            # What arguments must be, and what wrong ones are told.
            ".._base.guards": "is_store_url is_url is_web_url require_body require_executor "
            "require_iterable require_limits require_parts require_path "
            "require_resolver require_schema require_token "
            "schema_of_parts",
            ".._base.hints": "Guided GuidedABC guided missing_attribute",
            ".._base.leaves": "FoundTuple",
            # Digests, files, threads, and packages that add something.
            ".._base.digests": "DIGEST_PATTERN Hasher KEY_PREFIX NO_DIGEST digest_of_stream "
            "from_hex_digits hex_digits is_digest key_of raw_digest "
            "sha256_of",
            ".._base.files": "APPEND CREATE DIRECTORY NO_LINKS TEMPORARY_PATTERN "
            "all_or_nothing open_parent open_regular read_at_most "
            "read_regular replace_file replace_unchanged temporary_name",
            ".._base.threads": "Interrupted PATIENCE Pool gather results_in_order",
            # Stores, as those see them who read whole directories.
            "..storage._offloading._mentions": "digests_of",
            "..storage._references.spool": "SpoolBlob",
            "..storage._references.reader": "read_web",
            "..storage._stores.directory": "FileStore",
            "..storage._stores.documents": "read_url",
            "..storage._stores.messages": "MESSAGE_SUFFIX OneStoredMessage StoredMessage "
            "StoredMessages is_message_key messages_at",
            "..globs._wide": "wide_pattern",
            "..schema._contents": "JSON_TYPES",
            "..schema._words": "in_words",
        },
    )
