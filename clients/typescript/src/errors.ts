// What can go wrong. `ApiError` is an answer of the server; the others say that there was none.

import type { ErrorBody } from "./types.js";

/** The codes of errors, as docs/api.md lists them. */
export type ErrorCode = ErrorBody["error"]["code"];

/** The base of all errors of this package. */
export class NoveloError extends Error {
  override name = "NoveloError";
}

/** The server refused the request. */
export class ApiError extends NoveloError {
  override name = "ApiError";
  constructor(
    message: string,
    readonly status: number,
    /** The code of the error; undefined if the answer is not one of Novelo. OpenAI's surfaces have further codes. */
    readonly code: ErrorCode | (string & {}) | undefined,
    /** The field, parameter or header that is wrong. */
    readonly param: string | undefined,
    /** The id under which the server logged the request. */
    readonly requestId: string | undefined,
    /** The seconds that the server asks to wait. */
    readonly retryAfter: number | undefined,
    readonly body: unknown,
  ) {
    super(`${status} ${code ?? "error"}${param ? ` (${param})` : ""}: ${message}`);
  }
}

/** The server could not be reached. Nothing was sent. */
export class ConnectionFailed extends NoveloError {
  override name = "ConnectionFailed";
}

/** The connection broke before the whole answer arrived. The request may have been done. */
export class ConnectionLost extends NoveloError {
  override name = "ConnectionLost";
}

/** The server did not answer in time. The request may have been done. */
export class TimedOut extends ConnectionLost {
  override name = "TimedOut";
}

/** What answered does not speak as Novelo does: another server, or a proxy. */
export class BadAnswer extends NoveloError {
  override name = "BadAnswer";
}

export function apiError(status: number, headers: Headers, content: string): ApiError {
  let body: unknown;
  try {
    body = JSON.parse(content);
  } catch {
    body = undefined;
  }
  const said = (body as { error?: unknown } | undefined)?.error;
  const about = (typeof said === "object" && said !== null ? said : {}) as Record<string, unknown>;
  const message = String(about["message"] ?? (typeof said === "string" ? said : content.slice(0, 200)) ?? "") || "no message";
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const wait = headers.get("retry-after-ms") ? Number(headers.get("retry-after-ms")) / 1000 : Number(headers.get("retry-after") ?? NaN);
  return new ApiError(
    message,
    status,
    text(about["code"]),
    text(about["param"]),
    headers.get("x-request-id") ?? undefined,
    Number.isFinite(wait) ? wait : undefined,
    body,
  );
}
