// What npm's packages say about messages: `node packages.mjs DIRECTORY TASK`, with JSON in and out.
//
// DIRECTORY is the one that npm installed the packages in. Each task takes the value that came in
// and returns the one that goes out.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { text } from "node:stream/consumers";

const [directory, task] = process.argv.slice(2);
const { resolve } = createRequire(pathToFileURL(`${directory}/`));
const load = (name) => import(pathToFileURL(resolve(name)).href);

const tasks = {
  // Each message as Vercel's own schema takes it and as models get it, or the reason for refusing.
  async "vercel-messages"(messages) {
    const ai = await load("ai");
    const taken = [];
    for (const message of messages) {
      const found = await ai.safeValidateUIMessages({ messages: [message] });
      if (!found.success) {
        taken.push({ problem: String(found.error) });
        continue;
      }
      const model = await ai.convertToModelMessages(found.data);
      const refused = model.map((each) => ai.modelMessageSchema.safeParse(each)).find((each) => each.error);
      taken.push({ message: found.data[0], model, problem: refused && String(refused.error) });
    }
    return taken;
  },

  // The message that Vercel's user interfaces hold after the chunks of a stream.
  async "vercel-stream"(chunks) {
    const { readUIMessageStream } = await load("ai");
    let last;
    const stream = ReadableStream.from(chunks);
    for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
      last = message;
    }
    return last;
  },

  // The messages that an agent of AG-UI holds after the events of a run.
  async "ag-ui-stream"(events) {
    const { defaultApplyEvents } = await load("@ag-ui/client");
    const { from } = await load("rxjs");
    const input = { threadId: "t", runId: "r", messages: [], state: {}, tools: [], context: [] };
    const agent = { messages: [], state: {}, agentId: "a", threadId: "t" };
    let messages = [];
    await defaultApplyEvents(input, from(events), agent, []).forEach((change) => {
      messages = change.messages ?? messages;
    });
    return messages;
  },
};

process.stdout.write(JSON.stringify(await tasks[task](JSON.parse(await text(process.stdin)))));
