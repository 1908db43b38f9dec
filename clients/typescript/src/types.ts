// The JSON of requests and answers. Written by clients/generate.py from openapi.json: do not edit.

export type JsonObject = Record<string, unknown>;

export type Any = unknown;

export type AnyObject = JsonObject;

export type Message = {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content?: string | unknown[] | null;
  tool_calls?: unknown[] | null;
  tool_call_id?: string;
  id?: string;
  create_time?: number;
} & JsonObject;

export type Append = {
  messages: Array<Message>;
  if_seq?: number;
};

export type Appended = {
  turns: Array<{
    id: string;
    seq: number;
    create_time: number;
    tokens: number;
  }>;
};

export type Turns = {
  has_more: boolean;
  turns: Array<{
    id: string;
    seq: number;
    create_time: number;
    message: JsonObject;
  }>;
};

export type Threads = {
  has_more: boolean;
  threads: Array<{
    id: string;
    turns: number;
    updated_at: number;
  }>;
};

export type Fork = {
  at_seq: number;
  to: string;
};

export type Forked = {
  thread: string;
  turns: number;
};

export type Forgotten = {
  erasing?: boolean;
  forgotten: {
    documents: number;
    passages: number;
    traces: number;
  };
};

export type Imported = {
  documents: number;
  new: number;
  forgotten?: number;
};

export type ContextRequest = {
  user?: string;
  thread?: string;
  question?: string;
  preset?: string;
  recipe?: JsonObject;
  messages?: Array<Message>;
  filters?: Array<unknown>;
  compact?: boolean | JsonObject;
  budget_tokens?: number;
  tokenizer?: "approx" | "o200k_base" | "cl100k_base";
  explain?: true | false | "text";
  as_of?: number | string;
};

export type Context = {
  messages: Array<JsonObject>;
  tokens: number;
  budget_tokens: number | null;
  trace_id: string;
  explain?: JsonObject | string;
};

export type Explanation = {
  notes: Array<JsonObject>;
  pieces: Array<{
    origin: string;
    role: string | null;
    tokens: number;
    fate: "kept" | "cut" | "redacted" | "moved" | "made" | "collapsed" | "dropped";
    by: string;
    why: string;
    id?: string;
    seq?: number;
    index?: number;
    turns?: number;
  }>;
};

export type Document = {
  id: string;
  create_time: number;
  version: number;
  value: unknown;
};

export type Stamp = {
  id: string;
  seq: number;
  create_time: number;
  version: number;
};

export type Deleted = {
  deleted: boolean;
};

export type Batch = {
  ops: Array<{
    op: "put" | "patch" | "delete";
    path: string;
    value?: unknown;
  }>;
};

export type Done = {
  done: number;
};

export type Replay = {
  messages: Array<JsonObject>;
  identical: boolean;
};

export type ErrorBody = {
  error: {
    code: "malformed_json" | "invalid_field" | "over_budget" | "too_large" | "unauthorized" | "forbidden" | "not_found" | "method_not_allowed" | "contradiction" | "conflict" | "stale" | "timeout" | "busy" | "rate_limited" | "unavailable" | "disk_full" | "read_only" | "no_model" | "model_failed" | "model_refused" | "model_rate_limited" | "upstream_auth" | "no_data" | "data_failed" | "internal";
    message: string;
    param: string | null;
  };
};

export type NewKey = {
  kind?: "user" | "guest" | "service" | "admin";
  user?: string;
  admin?: boolean;
  name?: string;
  ttl_seconds?: number;
};

export type Key = {
  id: string;
  kind: "user" | "guest" | "service" | "admin";
  user: string | null;
  admin: boolean;
  name: string | null;
  key: string;
  ttl_seconds?: number | null;
};

export type Keys = {
  keys: Array<JsonObject>;
  has_more: boolean;
};

export type RebuildStep = {
  user?: string;
  anew?: boolean;
};

export type Rebuilt = {
  done: number;
  users: number;
  finished: boolean;
  collections: Array<{
    name: string;
    points: number;
    passages: number;
  }>;
};

export type Doctor = {
  healthy: boolean;
  findings: Array<JsonObject>;
  notes: Array<JsonObject>;
  models: JsonObject;
  store: "local" | "memory" | "redis";
  index: "local" | "qdrant";
};

export type Models = {
  object: "list";
  data: Array<Model>;
};

export type Model = {
  id: string;
  object: "model";
  created: number;
  owned_by: string;
  model?: string | null;
};

export type GuidedMessage = {
  messages: Array<Message>;
  userId?: string;
  guestId?: string;
  isGuest?: boolean;
  stream?: boolean;
  promptReadyImmediate?: boolean;
  forcarMetodoViva?: boolean;
  sessionMeta?: {
    sessionId?: string;
  };
  promptOverride?: string;
  metaFromBuilder?: {
    nome?: string;
    aberturaHibrida?: {
      sugestaoNivel: 1 | 2 | 3;
    };
    blocoTecnicoForcado?: {
      intensidade?: number;
      resumo?: string;
      tags?: Array<string>;
      categoria?: string;
      emocao?: string;
    };
  };
};

export type GuidedAnswer = {
  type: "done";
  at: number;
  sinceStartMs: number;
  message: string;
  modelo?: string | null;
  intensidade: number;
  resumo?: string | null;
  tags: Array<string>;
  categoria?: string | null;
  emocao?: string | null;
  usage?: JsonObject | null;
  cache: boolean;
  fallback: boolean;
  meta: {
    mode: "fast" | "stream" | "full" | "shortcut";
    reason?: string;
    nivel: 1 | 2 | 3;
    vivaSteps: Array<string>;
    vivaAtivo: boolean;
    lowComplexity: boolean;
    saveMemory: boolean;
    crisis?: boolean;
  };
  trace?: Course;
  guestId?: string;
};

export type Course = {
  traceId: string;
  surface: string;
  userId: string | null;
  model: string | null;
  cacheStatus: "hit" | "miss" | null;
  caches: Array<{
    cache: string;
    status: "hit" | "miss";
    key?: string;
  }>;
  heuristics: Array<{
    name: string;
    value: unknown;
    why: string;
  }>;
  modules: Array<{
    name: string;
    status: string;
    why: string;
    tokens: number | null;
    missingTokens?: number;
  }>;
  embeddingResult: unknown;
  embeddingResults: Array<{
    kind: string;
    against: string;
    similarity: number | null;
    hits: number;
    tookMs: number;
  }>;
  memoryDecision: unknown;
  latency: {
    firstTokenMs: number | null;
    promptReadyMs: number | null;
    totalMs: number | null;
  };
  errors: Array<{
    stage: string;
    message: string;
    atMs: number;
  }>;
  startedAt: string | null;
  finishedAt: string | null;
  prompts: Array<string>;
  running: boolean;
};

export type TopicRun = {
  kala: {
    kind: string;
  };
  model?: JsonObject;
  presetId?: string;
  includeDocId?: boolean;
  userId?: string;
};

export type Yoj = {
  yoj: Array<JsonObject>;
};

export type IndexerRun = {
  sessionId: string;
  responseId?: string;
  groups?: Array<JsonObject>;
  userId?: string;
};

export type Indexed = {
  ok: boolean;
  indexed_groups: number;
  indexed_messages: number;
  batches: number;
  skipped?: Array<{
    group: string;
    why: string;
  }>;
};

export type GroupState = {
  sessionId: string;
  group: string;
  expanded?: boolean;
  state?: "expanded" | "collapsed";
  responseId?: string;
  userId?: string;
};

export type GroupStateSet = {
  ok: boolean;
  group: string;
  expanded: boolean;
  updated_at: number;
};

export type Refusal = {
  error: string;
};

export type JobRefusal = {
  ok: false;
  error: string;
};

export type Summary = {
  text: string;
  upto_seq: number;
  by: "extract" | "model" | "caller";
  updated_at: number;
};

export type NewSummary = {
  text: string;
  upto_seq?: number;
};

export type NewMemory = {
  text: string;
  meta?: JsonObject | null;
  id?: string;
  valid_from?: number | string;
  valid_to?: number | string;
  supersedes?: unknown[] | null;
  source?: JsonObject;
  confidence?: number;
};

export type Memory = {
  id: string;
  text: string;
  level: "short" | "medium" | "long";
  meta: JsonObject | null;
  create_time: number;
  valid_from?: number;
  valid_to?: number;
  source?: JsonObject;
  confidence?: number;
  superseded_by?: {
    id: string;
    by: "rule" | "caller";
    subject?: string;
    attribute?: string;
    of?: string;
    reason?: string;
  };
  supersedes?: Array<{
    id: string;
    by: "rule" | "caller";
    subject?: string;
    attribute?: string;
    of?: string;
    reason?: string;
  }>;
};

export type MemoryChange = {
  valid_from?: number | string | null;
  valid_to?: number | string | null;
  supersedes?: unknown[] | null;
  confidence?: number | null;
};

export type Named = {
  id: string;
};

export type Memories = {
  has_more: boolean;
  memories: Array<{
    id: string;
    text: string;
    level: "short" | "medium" | "long";
    meta: JsonObject | null;
    create_time: number;
    valid_from?: number;
    valid_to?: number;
    source?: JsonObject;
    confidence?: number;
    superseded_by?: {
      id: string;
      by: "rule" | "caller";
      subject?: string;
      attribute?: string;
      of?: string;
      reason?: string;
    };
    supersedes?: Array<{
      id: string;
      by: "rule" | "caller";
      subject?: string;
      attribute?: string;
      of?: string;
      reason?: string;
    }>;
  }>;
};

export type Search = {
  query: string;
  k?: number;
  explain?: boolean;
  as_of?: number | string;
};

export type MemoryHits = {
  hits: Array<{
    id: string;
    text: string;
    score: number;
    level: "short" | "medium" | "long";
    meta: JsonObject | null;
    why?: JsonObject;
    valid_from?: number;
    valid_to?: number;
    source?: JsonObject;
    confidence?: number;
    superseded_by?: {
      id: string;
      reason?: string;
    };
  }>;
  near?: Array<{
    id: string;
    text: string;
    score: number;
  }>;
  notes?: Array<string>;
};

export type TurnSearch = {
  query: string;
  k?: number;
  explain?: boolean;
  thread?: string;
  as_of?: number | string;
};

export type TurnHits = {
  hits: Array<{
    id: string;
    thread: string;
    seq: number;
    role: string;
    text: string;
    score: number;
    create_time: number;
    why?: JsonObject;
    valid_from?: number;
    valid_to?: number;
    superseded_by?: {
      id: string;
      reason?: string;
    };
  }>;
  near?: Array<{
    id: string;
    text: string;
    score: number;
  }>;
  notes?: Array<string>;
};

export type NewCompaction = {
  max_tokens?: number;
  keep?: number;
  recent_turns?: number;
  by?: "extract" | "model";
  max_text_tokens?: number;
  tokenizer?: "approx" | "o200k_base" | "cl100k_base";
};

export type Compacted = {
  compaction: unknown;
  tokens: number;
  max_tokens: number;
};

export type Compaction = {
  id: string;
  created_at: number;
  tokens_before: number;
  tokens_after: number;
  max_tokens: number;
  tokenizer: "approx" | "o200k_base" | "cl100k_base";
  spans: Array<CompactedSpan>;
};

export type CompactedSpan = {
  id: string;
  in: "thread" | "request";
  first_seq: number;
  last_seq: number;
  turns: number;
  tokens: number;
  kind: "tools" | "talk" | "mixed";
  by: "extract" | "model";
  text: string;
  children?: Array<string>;
  refused?: string;
  restored_at?: number;
};

export type Compactions = {
  compactions: Array<Compaction>;
  has_more: boolean;
};

export type SpanTurns = {
  span: CompactedSpan;
  messages: Array<{
    id: string;
    seq: number;
    create_time: number;
    message: JsonObject;
  }>;
  missing: number;
};

export type Pins = {
  turns: Array<string>;
};

export type NewText = {
  name?: string;
  text?: string;
  meta?: JsonObject | null;
  id?: string;
  path?: string;
};

export type IndexedText = {
  id: string;
  passages: number;
  files?: number;
  skipped?: {
    binary: number;
    large: number;
    unreadable: number;
    not_prose?: number;
    failed?: number;
    files?: Array<{
      file: string;
      why: string;
    }>;
  };
};

export type Texts = {
  has_more: boolean;
  documents: Array<{
    id: string;
    name: string;
    kind: "document" | "repo";
    passages: number;
    bytes: number;
    meta?: JsonObject | null;
    files?: number;
    skipped?: {
      binary: number;
      large: number;
      unreadable: number;
      not_prose?: number;
      failed?: number;
      files?: Array<{
        file: string;
        why: string;
      }>;
    };
    updated_at: number;
  }>;
};

export type KnownText = {
  id: string;
  name: string;
  kind: "document" | "repo";
  passages: number;
  bytes: number;
  meta?: JsonObject | null;
  files?: number;
  skipped?: {
    binary: number;
    large: number;
    unreadable: number;
    not_prose?: number;
    failed?: number;
    files?: Array<{
      file: string;
      why: string;
    }>;
  };
  updated_at: number;
};

export type PassageSearch = {
  query: string;
  k?: number;
  explain?: boolean;
  kind?: "document" | "repo";
  document?: string;
};

export type PassageHits = {
  hits: Array<{
    id: string;
    document: string;
    name: string;
    text: string;
    file?: string;
    line?: number;
    page?: number;
    score: number;
    meta: JsonObject | null;
    why?: JsonObject;
  }>;
  near?: Array<{
    id: string;
    text: string;
    score: number;
  }>;
  notes?: Array<string>;
};

export type NewTask = {
  title: string;
  notes?: string;
  due?: string;
  id?: string;
};

export type TaskChange = {
  title?: string;
  status?: "open" | "done";
  notes?: string | null;
  due?: string | null;
};

export type Tasks = {
  has_more: boolean;
  tasks: Array<{
    id: string;
    title: string;
    status: "open" | "done";
    notes?: string;
    due?: string;
    created_at: number;
    updated_at: number;
    done_at?: number;
  }>;
};

export type Task = {
  id: string;
  title: string;
  status: "open" | "done";
  notes?: string;
  due?: string;
  created_at: number;
  updated_at: number;
  done_at?: number;
};

export type NewResult = {
  name?: string;
  content: unknown;
};

export type Results = {
  has_more: boolean;
  results: Array<{
    id: string;
    name?: string;
    content: unknown;
    at: number;
  }>;
};

export type MemoryContextRequest = {
  user_id?: string;
  session_id?: string;
  task_id?: string;
  include_vector?: boolean;
  query?: string;
  explain?: boolean | string;
  budget_tokens?: number;
  tokenizer?: string;
  as_of?: number | string;
};

export type Reset = {
  user_id?: string;
  session_id?: string;
  scope: "all" | "vector" | "short_term" | "summary" | "user_data";
};

export type WasReset = {
  reset: {
    documents: number;
    passages: number;
    traces: number;
  };
  erasing?: boolean;
};

export type Skills = {
  skills: Array<JsonObject>;
};

export type SkillRun = {
  user_id?: string;
  session_id?: string;
  task_id?: string;
  arguments?: JsonObject;
};

export type SkillResult = {
  result: unknown;
};

export type Question = {
  question: string;
  thread_id?: string;
  user_id?: string;
  stream?: boolean;
};

export type Completion = {
  messages: Array<Message>;
  model?: string;
  stream?: boolean;
  user?: string;
  metadata?: {
    thread_id?: string;
  };
} & JsonObject;

export type Completed = {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: Array<JsonObject>;
  usage?: JsonObject;
};

export type MemoryChat = {
  user_id?: string;
  session_id?: string;
  task_id?: string;
  message: string;
  stream?: boolean;
};

export type Reply = {
  answer: string;
  thread_id: string;
  standalone_question: string;
  rewritten_by: "nobody" | "rules" | "model";
  sources: Array<{
    from: "memories" | "turns" | "documents";
    id: string;
    name: string;
    text: string;
    file?: string;
    heading?: string;
    line?: number;
    line_end?: number;
    page?: number;
    score: number;
    n: number;
  }>;
  tokens: number;
  budget_tokens?: number | null;
  trace_id?: string;
  answered_by: string;
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
  };
  calls?: Array<{
    name: string;
    arguments: string;
    result: unknown;
  }>;
  partial?: "client_left" | "model_failed" | "server_stopped";
  fallback?: boolean;
  notes: Array<string>;
};

export type DataQuestion = {
  question: string;
  conversation_id: string;
  nickname: string;
  client_id: string;
};

export type DataAnswer = {
  status: "ok" | "unroutable" | "incomplete";
  results: Array<JsonObject>;
  meta: {
    request_id: string;
    intent: string | null;
    entity: string | null;
    bucket?: string | null;
    planner: JsonObject;
    reference: {
      used: boolean;
      reason: "context_disabled" | "last_reference_disabled" | "no_entity" | "entity_not_allowed" | "input_has_ticker" | "no_candidate" | "expired" | "last_reference_applied";
    };
    parameters?: JsonObject;
    rows: JsonObject;
    cache: JsonObject;
    narrator: JsonObject;
    timings_us: JsonObject;
    notes?: Array<string>;
    unread?: Array<{
      kind: "name" | "period" | "condition" | "pointer" | "unanswered";
      words: string;
    }>;
    also?: Array<JsonObject>;
  };
  answer: string;
};

export type NewResponse = {
  model?: string;
  input?: string | unknown[];
  instructions?: string | null;
  previous_response_id?: string | null;
  conversation?: string | JsonObject | null;
  store?: boolean | null;
  stream?: boolean | null;
  background?: boolean | null;
  tools?: Array<JsonObject>;
  tool_choice?: string | JsonObject;
  text?: JsonObject;
  truncation?: "auto" | "disabled" | null;
  context_management?: unknown[] | null;
  max_output_tokens?: number | null;
  metadata?: JsonObject | null;
  user?: string;
} & JsonObject;

export type Response = {
  id: string;
  object: "response";
  created_at: number;
  status: "queued" | "in_progress" | "completed" | "incomplete" | "cancelled" | "failed";
  model: string;
  output: Array<JsonObject>;
  error?: JsonObject | null;
  incomplete_details?: JsonObject | null;
  usage?: JsonObject | null;
  metadata?: JsonObject;
  conversation?: JsonObject | null;
  previous_response_id?: string | null;
  expires_at?: number | null;
};

export type CompactedResponse = {
  id: string;
  object: "response.compaction";
  created_at: number;
  output: Array<JsonObject>;
  usage: JsonObject;
};

export type DeletedResponse = {
  id: string;
  object: "response";
  deleted: boolean;
};

export type InputTokens = {
  object: "response.input_tokens";
  input_tokens: number;
};

export type NewConversation = {
  items?: Array<JsonObject>;
  metadata?: JsonObject | null;
  user?: string;
};

export type ConversationChange = {
  metadata: JsonObject | null;
  user?: string;
};

export type Conversation = {
  id: string;
  object: "conversation";
  created_at: number;
  metadata: JsonObject;
  updated_at?: number;
  expires_at?: number | null;
};

export type DeletedConversation = {
  id: string;
  object: "conversation.deleted";
  deleted: boolean;
};

export type ConversationList = {
  object: "list";
  data: Array<Conversation>;
  first_id: string;
  last_id: string;
  has_more: boolean;
};

export type NewItems = {
  items: Array<JsonObject>;
  user?: string;
};

export type Item = {
  id: string;
  type: string;
};

export type ItemList = {
  object: "list";
  data: Array<Item>;
  first_id: string;
  last_id: string;
  has_more: boolean;
};

export type NewEmbeddings = {
  input: string | unknown[];
  model?: string;
  encoding_format?: "float" | "base64";
  dimensions?: number;
  user?: string;
};

export type Embeddings = {
  object: "list";
  data: Array<Embedding>;
  model: string;
  usage: JsonObject;
};

export type Embedding = {
  object: "embedding";
  index: number;
  embedding: unknown[] | string;
};

export type Documents = {
  documents: Array<Document>;
  has_more: boolean;
};
