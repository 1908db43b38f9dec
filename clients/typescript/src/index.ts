// A client of Novelo, the conversation-context engine.

import { Operations } from "./operations.js";

export type { CallOptions, ClientOptions, DocumentPath } from "./base.js";
export { ApiError, BadAnswer, ConnectionFailed, ConnectionLost, NoveloError, TimedOut } from "./errors.js";
export type { ErrorCode } from "./errors.js";
export { EventStream } from "./stream.js";
export type { NoveloEvent } from "./stream.js";
export type * from "./types.js";

/**
 * A client of a Novelo server. It has a method for each call of the API, named after its `operationId` in `/openapi.json`.
 *
 *     const client = new Novelo({ baseUrl: "http://127.0.0.1:7420" });
 *     await client.appendTurns("ana", "t1", { messages: [{ role: "user", content: "Olá!" }] });
 */
export class Novelo extends Operations {}
