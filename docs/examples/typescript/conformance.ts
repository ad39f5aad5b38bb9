/**
 * Runs the vectors of the format as a standard, version 1 (docs/reference/format/), in a folder:
 * `node --experimental-strip-types conformance.ts [FOLDER]`.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FormatError, JsonNumber, parseJson } from './messagebody.ts';
import { bodyDigest, isValid, list, namePattern, readBody, readSchema, typePattern, writeBody } from './messagebody.ts';
import type { Json, Pattern } from './messagebody.ts';

type Line = ReadonlyMap<string, Json>;
/** Says what is wrong with a line, or null. */
type Check = (line: Line) => string | null;

/** What a reader gives, or null where it refuses. Other errors are faults of the reader. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}

/** Compares what `attempt` gave with whether the line wants it refused. */
function refusal(result: unknown, wanted: boolean): string | null {
  if ((result === null) === wanted) return null;
  return wanted ? 'is not refused' : 'is refused';
}

function text(line: Line, member: string): string {
  const value = line.get(member);
  if (typeof value !== 'string') throw new Error(`a line has no text ${member}`);
  return value;
}

function texts(line: Line, member: string): string[] {
  const value = line.get(member);
  return Array.isArray(value) ? value.map(String) : [];
}

/** A form in which equal values are equal texts: members are sorted, and integers are exact. */
function normal(value: Json | undefined): string {
  if (value instanceof JsonNumber) return /^-?[0-9]+$/.test(value.text) ? value.text : String(Number(value.text));
  if (Array.isArray(value)) return `[${value.map(normal).join()}]`;
  if (value instanceof Map) {
    const members = Array.from(value, ([name, item]) => `${JSON.stringify(name)}:${normal(item)}`);
    return `{${members.sort().join()}}`;
  }
  return JSON.stringify(value ?? null);
}

function checkDocument(line: Line): string | null {
  const body = attempt(() => readBody(text(line, 'document')));
  const wanted = line.get('body') ?? null;
  if (body === null || wanted === null) return refusal(body, wanted === null);
  const document = writeBody(body);
  if (normal(parseJson(document)) !== normal(wanted)) return `is written as ${document}`;
  return writeBody(readBody(new TextEncoder().encode(document))) === document ? null : 'is not read again as it was';
}

function checkDigest(line: Line): string | null {
  const digest = bodyDigest(readBody(text(line, 'document')));
  return digest === line.get('digest') ? null : `has the digest ${digest}`;
}

function checkPattern(line: Line): string | null {
  const compile: (text: string) => Pattern = text(line, 'kind') === 'name' ? namePattern : typePattern;
  const pattern = attempt(() => compile(text(line, 'pattern')));
  if (pattern === null || line.has('refused')) return refusal(pattern, line.has('refused'));
  const missed = texts(line, 'matches').filter((word) => !pattern.matches(word));
  const wrong = texts(line, 'others').filter((word) => pattern.matches(word));
  return missed.length + wrong.length === 0 ? null : `misses ${missed.join()}, and matches ${wrong.join()}`;
}

function checkList(line: Line): string | null {
  const names = list(readBody(text(line, 'document')), text(line, 'pattern'));
  return normal(names) === normal(line.get('names')) ? null : `gives ${names.join()}`;
}

function checkSchema(line: Line): string | null {
  const schema = attempt(() => readSchema(text(line, 'schema')));
  if (schema === null || line.has('refused')) return refusal(schema, line.has('refused'));
  const answer = isValid(readBody(text(line, 'document')), schema);
  return answer === line.get('valid') ? null : `is answered with ${answer}`;
}

const CHECKS: Readonly<Record<string, Check>> = {
  'documents.jsonl': checkDocument,
  'digests.jsonl': checkDigest,
  'patterns.jsonl': checkPattern,
  'lists.jsonl': checkList,
  'schemas.jsonl': checkSchema,
};

/** Runs a check; an error that is thrown is a failure too. */
function outcome(check: Check, line: Line): string | null {
  try {
    return check(line);
  } catch (error) {
    return `throws ${error}`;
  }
}

function main(folder: string): number {
  const counts = { run: 0, failed: 0, left: 0 };
  const missing = Object.keys(CHECKS).filter((file) => !readdirSync(folder).includes(file));
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
    readFileSync(join(folder, file), 'utf8').split('\n').forEach((source, index) => {
      if (source.trim() === '') return;
      const line = parseJson(source) as Line;
      if (line.get('contents') === true) return void counts.left++;
      const failure = outcome(CHECKS[file] ?? (() => 'is of an unknown file'), line);
      counts.run++;
      if (failure !== null) counts.failed++, console.log(`${file}:${index + 1} ${failure}`);
    });
  }
  for (const file of missing) console.log(`${file} is missing`);
  console.log(`${counts.run} lines run, ${counts.failed} failed, ${counts.left} left out that need JSON Schema`);
  return counts.failed + missing.length > 0 || counts.run === 0 ? 1 : 0;
}

process.exitCode = main(process.argv[2] ?? join(import.meta.dirname, '../../reference/format/v1'));
