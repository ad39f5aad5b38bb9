/**
 * Message bodies: a reader, a writer, digests, queries and schemas. Implements the format as a
 * standard, version 1 (docs/reference/format/), and has no dependency. It decides no compatibility and
 * reads no contents. Numbers in brackets such as (2.7) are rules of the standard.
 */
import { createHash } from 'node:crypto';

/** Any JSON value. Objects are maps, so that a member may have any name, `__proto__` included. */
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
export interface JsonObject extends ReadonlyMap<string, Json> {}

/** A number as the document spells it, because a double would not hold every integer. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What is wrong, and in which part: 0 is the first, null is the document itself. */
export interface Fault {
  readonly part: number | null;
  readonly message: string;
}

/** A document or a pattern is refused. */
export class FormatError extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(({ part, message }) => (part === null ? message : `part ${part}: ${message}`)).join('; '));
    this.name = 'FormatError';
    this.faults = faults;
  }
}

/** One part. Its content is text, or bytes, or null where it has a URL instead. */
export interface Part {
  readonly name: string | null;
  readonly contentType: string;
  readonly content: string | Uint8Array | null;
  readonly contentUrl: string | null;
  /** What a part with a URL states about its content. */
  readonly size: number | null;
  readonly digest: string | null;
  readonly metadata: JsonObject | null;
  /** Members that the standard does not know. */
  readonly others: JsonObject;
}

export type Body = readonly Part[];

/** A part that a schema permits or requires; without a name it is for unnamed parts. */
export interface SchemaPart {
  readonly name: Pattern | null;
  readonly contentType: TypePattern;
  readonly required: boolean;
  readonly description: string | null;
  readonly contentSchema: JsonObject | boolean | null;
}

export type Schema = readonly SchemaPart[];

/** A set of names or content types. */
export interface Pattern {
  /** Whether the name, or the type with or without parameters, is in the set. */
  matches(word: string): boolean;
}

/** A set of content types. */
export interface TypePattern extends Pattern {
  /** Whether a type of JSON is in the set. */
  matchesJson(): boolean;
}

type Complain = (message: string) => void;

function refuse(message: string): never {
  throw new FormatError([{ part: null, message }]);
}

// JSON

// What this reader takes (section 1).
const MAX_DEPTH = 1000;
const MAX_TYPE = 100_000;

const SPACE = /[ \t\n\r,:]*/y;
const TOKEN = /[{}[\]]|[^ \t\n\r,:{}[\]]*/y;
const LONE_SURROGATE = /\p{Cs}/u;

/** The match of a sticky pattern at an offset, or null. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Takes JSON apart whose syntax is known to be right: commas and colons say no more than white space. */
class Parser {
  readonly faults: Fault[] = [];
  readonly #text: string;
  readonly #partDepth: number;
  #at = 0;
  #depth = 0;
  #part: number | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#partDepth = text.trimStart().startsWith('[') ? 1 : 2;
  }

  value(token = this.#token()): Json {
    if (token === '{') return this.#object();
    if (token === '[') return this.#array();
    if (token.startsWith('"')) return this.#string(token);
    return /^[tfn]/.test(token) ? (JSON.parse(token) as boolean | null) : this.#number(token);
  }

  #object(): JsonObject {
    const members = new Map<string, Json>();
    this.#items('}', (token) => {
      const name = this.#string(token);
      if (members.has(name)) this.#fault('two members have one name');
      members.set(name, this.value());
    });
    return members;
  }

  #array(): Json[] {
    const items: Json[] = [];
    const holdsParts = this.#depth + 1 === this.#partDepth;
    this.#items(']', (token) => {
      if (holdsParts) this.#part = items.length;
      items.push(this.value(token));
    });
    if (holdsParts) this.#part = null;
    return items;
  }

  #items(close: string, read: (token: string) => void): void {
    if (++this.#depth > MAX_DEPTH) refuse('values are nested too deeply');
    for (let token = this.#token(); token !== close; token = this.#token()) read(token);
    this.#depth--;
  }

  #string(token: string): string {
    const text = JSON.parse(token) as string;
    if (LONE_SURROGATE.test(text)) this.#fault('a string has a lone surrogate');
    return text;
  }

  #number(token: string): JsonNumber {
    if (/[.eE]/.test(token) && !Number.isFinite(Number(token))) this.#fault('a number is too large');
    return new JsonNumber(token);
  }

  #token(): string {
    const start = this.#at + (matchAt(SPACE, this.#text, this.#at)?.[0].length ?? 0);
    const isString = this.#text[start] === '"';
    this.#at = isString ? endOfString(this.#text, start) : start + (matchAt(TOKEN, this.#text, start)?.[0].length ?? 0);
    return this.#text.slice(start, this.#at);
  }

  #fault(message: string): void {
    this.faults.push({ part: this.#part, message });
  }
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** Parses a document. The faults that JSON.parse does not see are collected. */
function parse(document: string | Uint8Array): { value: Json; faults: Fault[] } {
  const text = typeof document === 'string' ? document : (utf8Text(document) ?? refuse('the document is not UTF-8'));
  try {
    JSON.parse(text);
  } catch {
    refuse('the document is not JSON');
  }
  const parser = new Parser(text);
  return { value: parser.value(), faults: parser.faults };
}

/** Reads JSON as section 1 has it: one value of any kind, and nothing that parsers read differently. */
export function parseJson(document: string | Uint8Array): Json {
  const { value, faults } = parse(document);
  if (faults.length > 0) throw new FormatError(faults);
  return value;
}

/** Writes a JSON value; numbers keep their spelling. */
export function writeJson(value: Json): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Array.from(value, ([name, member]) => `${JSON.stringify(name)}: ${writeJson(member)}`).join(', ')}}`;
}

function isObject(value: Json): value is JsonObject {
  return value instanceof Map;
}

// Text and bytes

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** The text of bytes that are UTF-8, its byte order mark kept; else null. */
function utf8Text(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

const isAscii = (text: string): boolean => !/[^\x00-\x7f]/.test(text);

function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The bytes of base64 (2.3), or null where it is none. */
function fromBase64(text: string): Uint8Array | null {
  const mixed = /[-_]/.test(text) && /[+/]/.test(text);
  return mixed || (text.includes('=') && text.length % 4 !== 0) ? null : fromLooseBase64(text);
}

/** The same where both alphabets may be mixed, and padding need not be whole (2.7). */
function fromLooseBase64(text: string): Uint8Array | null {
  const digits = text.replace(/={1,2}$/, '');
  return /[^A-Za-z0-9+/_-]/.test(digits) || digits.length % 4 === 1 ? null : Buffer.from(digits, 'base64');
}

const isData = (url: string): boolean => /^data:/i.test(url);

/** The content of a `data:` URL (2.7), or null where the URL is broken. */
function dataContent(url: string): Uint8Array | null {
  const [, head, escaped] = /^.{5}([^,]{0,1000}),([^#]*)/u.exec(url) ?? [];
  if (head === undefined || escaped === undefined) return null;
  if (!isAscii(escaped) || /%(?![0-9A-Fa-f]{2})/.test(escaped)) return null;
  const text = escaped.replace(/%(..)/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return /;base64$/i.test(head) ? fromLooseBase64(text.replace(/[ \t\n\r]/g, '')) : Buffer.from(text, 'latin1');
}

// Names, content types and URLs

// What no name has: another character, or a segment that is empty, `.` or `..`.
const NAME_FAULT = /[^A-Za-z0-9._/-]|\/\.{0,2}(?:\/|$)/;
const URL_WITH_SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:[^\p{White_Space}\p{Cc}]+$/u;
const ESSENCE = /[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/y;
const SEMICOLON = /[ \t]*;[ \t]*/y;
const PARAMETER =
  /([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[\t !#-[\]-~]|\\[\t -~\x80-\xff])*)")/y;

interface ContentType {
  readonly essence: string;
  /** The value of `charset`, in lower case. */
  readonly charset: string | undefined;
}

const isName = (text: string): boolean => text.startsWith('/') && !NAME_FAULT.test(text);

/** Reads a content type, or gives null where the text is none. */
function readType(text: string): ContentType | null {
  const essence = text.length > MAX_TYPE ? undefined : matchAt(ESSENCE, text, 0)?.[0];
  if (essence === undefined) return null;
  const parameters = new Map<string, string>();
  let at = essence.length;
  for (let mark = matchAt(SEMICOLON, text, at); mark !== null; mark = matchAt(SEMICOLON, text, at)) {
    at += mark[0].length;
    const [parameter, name = '', token, quoted = ''] = matchAt(PARAMETER, text, at) ?? [];
    if (parameter === undefined) continue;
    if (parameters.has(name.toLowerCase())) return null;
    parameters.set(name.toLowerCase(), token ?? quoted.replace(/\\(.)/g, '$1'));
    at += parameter.length;
  }
  const charset = parameters.get('charset')?.toLowerCase();
  return at === text.length ? { essence: essence.toLowerCase(), charset } : null;
}

const isJsonType = (essence: string): boolean => essence === 'application/json' || essence.endsWith('+json');

/** Whether text may travel as it is in a part of this type (2.6). */
function fitsCharset(text: string, contentType: string): boolean {
  const charset = readType(contentType)?.charset ?? 'utf-8';
  return charset === 'utf-8' || (charset === 'us-ascii' && isAscii(text));
}

// Reading

const MEMBERS = ['name', 'contentType', 'content', 'contentEncoding', 'contentUrl', 'size', 'digest', 'metadata'];
const FOLDED_MEMBERS = new Set(MEMBERS.map((name) => name.toLowerCase()));

/** Reads a body, or throws all that is wrong with the document. */
export function readBody(text: string | Uint8Array): Body {
  const names = new Set<string>();
  return readParts(text, (members, complain) => {
    const part = readPart(members, complain);
    if (part.name !== null && names.has(part.name)) complain('the name is that of a part before');
    if (part.name !== null) names.add(part.name);
    return part;
  });
}

/** Reads each part of a document, and throws the faults of all of them. */
function readParts<T>(document: string | Uint8Array, read: (members: JsonObject, complain: Complain) => T): T[] {
  const { value, faults } = parse(document);
  const items = itemsOf(value);
  if (items === null) faults.push({ part: null, message: 'a document is an array, or an object with parts alone' });
  const parts = (items ?? []).flatMap((item, number) => {
    const complain: Complain = (message) => faults.push({ part: number, message });
    if (isObject(item)) return [read(item, complain)];
    complain('a part is an object');
    return [];
  });
  if (faults.length > 0) throw new FormatError(faults);
  return parts;
}

function itemsOf(document: Json): Json[] | null {
  const items = isObject(document) && document.size === 1 ? document.get('parts') : document;
  return Array.isArray(items) ? items : null;
}

/** Gives what `read` makes of a member: null if the member is absent, or refused, which is a fault. */
function member<T>(members: JsonObject, name: string, read: (value: Json) => T | null, complain: Complain): T | null {
  const value = members.get(name) ?? null;
  if (value === null) return null;
  try {
    return read(value) ?? refuse('the value is wrong');
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    complain(`${name}: ${error.message}`);
    return null;
  }
}

/** A reader for members that are strings and pass a test. */
function textThat(test: (text: string) => boolean): (value: Json) => string | null {
  return (value) => (typeof value === 'string' && test(value) ? value : null);
}

const anyText = textThat(() => true);

function readSize(value: Json): number | null {
  if (!(value instanceof JsonNumber) || !/^(?:-0|[0-9]+)$/.test(value.text)) return null;
  return Number.isSafeInteger(Number(value.text)) ? Number(value.text) : null;
}

function readPart(members: JsonObject, complain: Complain): Part {
  const text = (name: string, test: (text: string) => boolean) => member(members, name, textThat(test), complain);
  checkMembers(members, complain);
  const contentUrl = text('contentUrl', (url) => URL_WITH_SCHEME.test(url));
  const encoding = text('contentEncoding', (name) => name === 'plain' || name === 'base64');
  const fallback = encoding !== 'base64' && isPresent(members, 'content') ? 'text/plain' : 'application/octet-stream';
  const part: Part = {
    name: text('name', isName),
    contentType: text('contentType', (type) => readType(type) !== null) ?? fallback,
    content: member<string | Uint8Array>(members, 'content', encoding === 'base64' ? readBase64 : anyText, complain),
    contentUrl,
    size: member(members, 'size', readSize, complain),
    digest: text('digest', (digest) => /^sha256:[0-9a-f]{64}$/.test(digest)),
    metadata: member(members, 'metadata', (value) => (isObject(value) ? value : null), complain),
    others: new Map([...members].filter(([name]) => !MEMBERS.includes(name))),
  };
  checkContent(part, complain);
  return contentUrl === null ? { ...part, size: null, digest: null } : part;
}

const readBase64 = (value: Json): Uint8Array | null => (typeof value === 'string' ? fromBase64(value) : null);

const isPresent = (members: JsonObject, name: string): boolean => (members.get(name) ?? null) !== null;

/** Checks which members a part has (2.1, 2.8), whatever their values are. */
function checkMembers(members: JsonObject, complain: Complain): void {
  const inline = isPresent(members, 'content');
  if (inline === isPresent(members, 'contentUrl')) complain('a part has either content or contentUrl');
  if (!inline && isPresent(members, 'contentEncoding')) complain('contentEncoding stands only beside content');
  for (const name of members.keys()) {
    const letters = name.replace(/[_\-\p{White_Space}\x1c-\x1f]/gu, '');
    const folded = letters.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    if (!MEMBERS.includes(name) && FOLDED_MEMBERS.has(folded)) complain(`a member is misspelled: ${folded}`);
  }
}

/** Checks the content against what the part says about it (2.4, 2.6, 2.7). */
function checkContent(part: Part, complain: Complain): void {
  if (typeof part.content === 'string' && !fitsCharset(part.content, part.contentType))
    complain('the charset of plain content is utf-8, or us-ascii where all of it is ASCII');
  const content = contentOf(part);
  if (content === null && part.contentUrl !== null && isData(part.contentUrl)) complain('the data: URL is broken');
  if (content === null) return;
  if (part.size !== null && part.size !== content.length) complain('size is not that of the content');
  if (part.digest !== null && part.digest !== sha256(content)) complain('digest is not that of the content');
}

/** The bytes that a part holds, in a `data:` URL too; null if it does not hold its content. */
export function contentOf(part: Part): Uint8Array | null {
  if (typeof part.content === 'string') return utf8(part.content);
  if (part.content !== null) return part.content;
  return part.contentUrl !== null && isData(part.contentUrl) ? dataContent(part.contentUrl) : null;
}

// Writing, digests and queries

/** Writes a body as an array of parts. */
export function writeBody(body: Body): string {
  return `[${body.map((part) => writeJson(written(part))).join(', ')}]`;
}

/** The members of a part as a writer chooses them (section 5). */
function written(part: Part): JsonObject {
  const plain = plainText(part);
  const content = plain ?? (part.content instanceof Uint8Array ? Buffer.from(part.content).toString('base64') : null);
  const known: [string, Json][] = [
    ['name', part.name],
    ['contentType', part.contentType],
    ['content', content],
    ['contentEncoding', content !== null && plain === null ? 'base64' : null],
    ['contentUrl', part.contentUrl],
    ['size', part.size === null ? null : new JsonNumber(String(part.size))],
    ['digest', part.digest],
    ['metadata', part.metadata],
  ];
  return new Map([...known.filter(([, value]) => value !== null), ...part.others]);
}

/** The content as text, if it was given as text or may be written as text; else null. */
function plainText(part: Part): string | null {
  if (part.content === null || typeof part.content === 'string') return part.content;
  const essence = readType(part.contentType)?.essence ?? '';
  const text = essence.startsWith('text/') || isJsonType(essence) ? utf8Text(part.content) : null;
  return text !== null && fitsCharset(text, part.contentType) ? text : null;
}

/** The digest of a body, or null if it has none because a reference states no size or no digest. */
export function bodyDigest(body: Body): string | null {
  const manifest = body.map(manifestEntry);
  return manifest.includes(null) ? null : sha256(utf8(JSON.stringify(manifest)));
}

/** What the manifest says about a part. The order of the members is that of RFC 8785. */
function manifestEntry(part: Part): object | null {
  const content = contentOf(part);
  const digest = content === null ? part.digest : sha256(content);
  const size = content === null ? part.size : content.length;
  if (digest === null || size === null) return null;
  return { contentType: part.contentType, digest, name: part.name ?? undefined, size };
}

/** The names of a body that a name pattern matches, in the order of the body. */
export function list(body: Body, pattern: string): string[] {
  const { matches } = namePattern(pattern);
  return body.flatMap(({ name }) => (name !== null && matches(name) ? [name] : []));
}

// Patterns

/** Where one can go from each brace and comma without reading a character. */
type Jumps = ReadonlyMap<number, readonly number[]>;

/** Reads a name pattern, or throws. */
export function namePattern(text: string): Pattern {
  if (/[^A-Za-z0-9._\-/*{},]/.test(text)) refuse('a name pattern has another character');
  const jumps = readBraces(text);
  checkStars(text, jumps);
  if (walk(text, jumps, '', stepName).has('')) refuse('a name pattern may be empty');
  const automaton = new Automaton(text, jumps);
  return { matches: (name) => isName(name) && automaton.takes(name) };
}

/** Reads a content-type pattern, or throws. */
export function typePattern(text: string): TypePattern {
  if (/[^A-Za-z0-9!#$&^_.+\-/*{},]/.test(text)) refuse('a type pattern has another character');
  const jumps = readBraces(text);
  checkStars(text, jumps);
  const shapes = walk(text, jumps, '', stepType);
  const any = shapes.delete('**');
  if (shapes.has('') || shapes.has('*') || shapes.has('word')) refuse('a type pattern may be without a slash');
  const automaton = new Automaton(text.toLowerCase(), jumps);
  const holds = (type: ContentType | null) => type !== null && (any || automaton.takes(type.essence));
  return {
    matches: (type) => holds(readType(type)),
    matchesJson: () => any || automaton.takes('application/json') || automaton.takesJsonSuffix(),
  };
}

/** Pairs the braces of a pattern. The pattern is then an automaton, whose states are its offsets. */
function readBraces(text: string): Jumps {
  const jumps = new Map<number, readonly number[]>();
  const open: number[][] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') open.push([at]);
    else if (text[at] === ',') (open.at(-1) ?? refuse('a comma stands outside of braces')).push(at);
    else if (text[at] === '}') closeBrace(open.pop() ?? refuse('a brace is not open'), at, jumps);
  }
  return open.length > 0 ? refuse('a brace is not closed') : jumps;
}

/** A brace leads into each alternative; the comma or brace behind one leads behind them all. */
function closeBrace(edges: readonly number[], close: number, jumps: Map<number, readonly number[]>): void {
  const [open, ...commas] = edges;
  if (open === undefined || commas.length === 0) refuse('braces hold one alternative');
  jumps.set(open, edges.map((edge) => edge + 1));
  for (const edge of [...commas, close]) jumps.set(edge, [close + 1]);
}

/**
 * Judges all expansions at once, without writing them out: `step` gives the state behind a symbol of
 * the pattern, or throws. The answer has the states in which an expansion can end.
 */
function walk(text: string, jumps: Jumps, start: string, step: (state: string, symbol: string) => string): Set<string> {
  const reached = Array.from({ length: text.length + 1 }, () => new Set<string>());
  reached[0]?.add(start);
  for (let at = 0; at < text.length; at++)
    for (const state of reached[at] ?? [])
      for (const next of jumps.get(at) ?? [at + 1]) reached[next]?.add(step(state, text.charAt(at)));
  return reached[text.length] ?? new Set();
}

const isEdge = (symbol: string): boolean => '{,}'.includes(symbol);

function checkStars(text: string, jumps: Jumps): void {
  walk(text, jumps, 'none', (state, symbol) => {
    if (isEdge(symbol)) return state === 'none' ? 'none' : 'edge';
    if (symbol === '*' && state === 'edge') refuse('two stars stand side by side across a brace');
    return symbol === '*' ? 'star' : 'none';
  });
}

/** An expansion of a name pattern begins with a slash, and has no two of them in a row. */
function stepName(state: string, symbol: string): string {
  if (isEdge(symbol)) return state;
  if (state === '' && symbol !== '/') refuse('a name pattern begins with a slash');
  if (state === '/' && symbol === '/') refuse('a name pattern has an empty segment');
  return symbol === '/' ? '/' : 'segment';
}

/** An expansion of a type pattern has one slash, or is `**`. */
function stepType(state: string, symbol: string): string {
  if (isEdge(symbol)) return state;
  if (state === '/' && symbol === '/') refuse('a type pattern has two slashes');
  if (state === '/' || symbol === '/') return '/';
  return symbol === '*' && (state === '' || state === '*') ? `${state}*` : 'word';
}

// A state of the automaton is an offset in the pattern and one of these modes.
const PLAIN = 0;
const BEHIND_SLASH = 1; // the symbol before was a slash
const IN_GLOBSTAR = 2; // at a `**` that takes whole segments
const BEHIND_GLOBSTAR = 3; // such a `**` has ended, and a slash must come that it has taken already
const LAST = 4; // such a `**` has ended, and nothing must come

const stateOf = (at: number, mode: number): number => 8 * at + mode;

/**
 * Reads words that have no empty segment, and no segment `.` or `..`. For such words an expansion that
 * ends in a slash, say, needs no rule to match nothing; and a `**` that is a whole segment may also be
 * read as `*`, which adds nothing.
 */
class Automaton {
  readonly #text: string;
  readonly #jumps: Jumps;

  constructor(text: string, jumps: Jumps) {
    this.#text = text;
    this.#jumps = jumps;
  }

  /** Whether the word, behind what led to the states, is read to an end. */
  takes(word: string, states: Iterable<number> = this.#start()): boolean {
    let reached = [...states];
    for (const character of word) reached = this.#step(reached, character);
    return [PLAIN, LAST].some((mode) => reached.includes(stateOf(this.#text.length, mode)));
  }

  /** Whether a content type that ends in `+json` is taken. */
  takesJsonSuffix(): boolean {
    return this.takes('+json', this.#token(this.#step(this.#token(this.#start()), '/')));
  }

  /** The states behind any `token1` (section 4). */
  #token(states: readonly number[]): Set<number> {
    const characters = `${this.#text.replace(/[/*{},]/g, '')}a`; // any other one is read as `a`, or not at all
    const reached = new Set(this.#step(states, characters.replace(/[^a-z0-9]/g, '')));
    for (const state of reached) for (const next of this.#step([state], characters)) reached.add(next);
    return reached;
  }

  #start(): number[] {
    return [...closure([stateOf(0, PLAIN)], this.#text, this.#jumps)];
  }

  /** The states behind one of the characters. */
  #step(states: Iterable<number>, characters: string): number[] {
    const seeds = [...states].flatMap((state) => [...characters].flatMap((one) => read(state, one, this.#text)));
    return [...closure(seeds, this.#text, this.#jumps)];
  }
}

/** The states behind one character of the word. */
function read(state: number, character: string, text: string): number[] {
  const at = state >> 3;
  const mode = state % 8;
  if (mode === IN_GLOBSTAR) return character === '/' ? [state, stateOf(at + 2, BEHIND_GLOBSTAR)] : [state];
  if (mode === BEHIND_GLOBSTAR || mode === LAST) return [];
  if (text[at] === '*') return character === '/' ? [] : [stateOf(at, PLAIN)];
  return text[at] === character ? [stateOf(at + 1, character === '/' ? BEHIND_SLASH : PLAIN)] : [];
}

/** The states, and those that are reached from them without a character. */
function closure(seeds: readonly number[], text: string, jumps: Jumps): Set<number> {
  const states = new Set(seeds);
  for (const state of states) for (const next of free(state, text, jumps)) states.add(next); // new ones too
  return states;
}

/** The states that are one step away without a character. */
function free(state: number, text: string, jumps: Jumps): number[] {
  const at = state >> 3;
  const mode = state % 8;
  const targets = jumps.get(at);
  if (targets !== undefined) return targets.map((next) => stateOf(next, mode));
  if (mode === IN_GLOBSTAR) return [stateOf(at + 2, LAST)];
  if (mode === BEHIND_GLOBSTAR) return text[at] === '/' ? [stateOf(at + 1, BEHIND_SLASH)] : [];
  if (mode === LAST || text[at] !== '*') return [];
  const globstar = mode === BEHIND_SLASH && text[at + 1] === '*' && text[at + 2] !== '*';
  return [stateOf(at + 1, PLAIN), ...(globstar ? [stateOf(at, IN_GLOBSTAR), stateOf(at + 2, BEHIND_GLOBSTAR)] : [])];
}

// Schemas

const SCHEMA_MEMBERS = ['name', 'contentType', 'required', 'description', 'contentSchema'];

/** Reads a schema, or throws all that is wrong with the document. */
export function readSchema(text: string | Uint8Array): Schema {
  return readParts(text, readSchemaPart);
}

const ANY_TYPE = typePattern('*/*');
const JSON_TYPE = typePattern('application/json');

function readSchemaPart(members: JsonObject, complain: Complain): SchemaPart {
  const get = <T>(name: string, read: (value: Json) => T | null) => member(members, name, read, complain);
  if ([...members.keys()].some((name) => !SCHEMA_MEMBERS.includes(name))) complain('a member is unknown');
  const bool = (value: Json) => (typeof value === 'boolean' ? value : null);
  const contentSchema = get('contentSchema', (value) => (isObject(value) ? value : bool(value)));
  const type = get('contentType', (value) => (typeof value === 'string' ? typePattern(value) : null));
  const contentType = type ?? (contentSchema === null ? ANY_TYPE : JSON_TYPE);
  if (contentSchema !== null && !contentType.matchesJson()) complain('contentSchema asks for a type of JSON');
  return {
    name: get('name', (value) => (typeof value === 'string' ? namePattern(value) : null)),
    contentType,
    required: get('required', bool) ?? false,
    description: get('description', anyText),
    contentSchema,
  };
}

/** Whether a body is valid; undefined where that depends on a `contentSchema`. */
export function isValid(body: Body, schema: Schema): boolean | undefined {
  const parts = body.map((part) => some(schema.map((wanted) => accepts(wanted, part))));
  const required = schema.filter((wanted) => wanted.required);
  const needs = required.map((wanted) => some(body.map((part) => accepts(wanted, part))));
  return every([...parts, ...needs]);
}

function accepts(wanted: SchemaPart, part: Part): boolean | undefined {
  if (wanted.name === null ? part.name !== null : part.name === null || !wanted.name.matches(part.name)) return false;
  if (!wanted.contentType.matches(part.contentType)) return false;
  if (wanted.contentSchema === null) return true;
  return wanted.contentSchema !== false && isJsonType(readType(part.contentType)?.essence ?? '') ? undefined : false;
}

type Answers = readonly (boolean | undefined)[];

/** Whether one of the answers is yes, if that can be told. */
function some(answers: Answers): boolean | undefined {
  return answers.includes(true) || (answers.includes(undefined) ? undefined : false);
}

/** Whether all of the answers are yes, if that can be told. */
function every(answers: Answers): boolean | undefined {
  return answers.includes(false) ? false : answers.includes(undefined) ? undefined : true;
}
