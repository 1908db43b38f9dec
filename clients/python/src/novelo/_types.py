"""The JSON of requests and answers.

Written by clients/generate.py from openapi.json: do not edit.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union


class _Message(TypedDict):
    role: Literal['system', 'developer', 'user', 'assistant', 'tool']


class Message(_Message, total=False):
    content: Union[str, List[Any], None]
    tool_calls: Union[List[Any], None]
    tool_call_id: str
    id: str
    create_time: float


class _Append(TypedDict):
    messages: List[Message]


class Append(_Append, total=False):
    if_seq: int


class AppendedTurn(TypedDict):
    id: str
    seq: int
    create_time: float
    tokens: int


class Appended(TypedDict):
    turns: List[AppendedTurn]


class TurnsTurn(TypedDict):
    id: str
    seq: int
    create_time: float
    message: Dict[str, Any]


class Turns(TypedDict):
    has_more: bool
    turns: List[TurnsTurn]


class ThreadsThread(TypedDict):
    id: str
    turns: int
    updated_at: float


class Threads(TypedDict):
    has_more: bool
    threads: List[ThreadsThread]


class Fork(TypedDict):
    at_seq: int
    to: str


class Forked(TypedDict):
    thread: str
    turns: int


class ForgottenForgotten(TypedDict):
    documents: int
    passages: int
    traces: int


class _Forgotten(TypedDict):
    forgotten: ForgottenForgotten


class Forgotten(_Forgotten, total=False):
    erasing: bool


class _Imported(TypedDict):
    documents: int
    new: int


class Imported(_Imported, total=False):
    forgotten: int


class ContextRequest(TypedDict, total=False):
    user: str
    thread: str
    question: str
    preset: str
    recipe: Dict[str, Any]
    messages: List[Message]
    filters: List[Any]
    compact: Union[bool, Dict[str, Any]]
    budget_tokens: int
    tokenizer: Literal['approx', 'o200k_base', 'cl100k_base']
    explain: Literal[True, False, 'text']
    as_of: Union[float, str]


class _Context(TypedDict):
    messages: List[Dict[str, Any]]
    tokens: int
    budget_tokens: Union[int, None]
    trace_id: str


class Context(_Context, total=False):
    explain: Union[Dict[str, Any], str]


class _ExplanationPiece(TypedDict):
    origin: str
    role: Union[str, None]
    tokens: int
    fate: Literal['kept', 'cut', 'redacted', 'moved', 'made', 'collapsed', 'dropped']
    by: str
    why: str


class ExplanationPiece(_ExplanationPiece, total=False):
    id: str
    seq: int
    index: int
    turns: int


class Explanation(TypedDict):
    notes: List[Dict[str, Any]]
    pieces: List[ExplanationPiece]


class Document(TypedDict):
    id: str
    create_time: float
    version: int
    value: Any


class Stamp(TypedDict):
    id: str
    seq: int
    create_time: float
    version: int


class Deleted(TypedDict):
    deleted: bool


class _BatchOp(TypedDict):
    op: Literal['put', 'patch', 'delete']
    path: str


class BatchOp(_BatchOp, total=False):
    value: Any


class Batch(TypedDict):
    ops: List[BatchOp]


class Done(TypedDict):
    done: int


class Replay(TypedDict):
    messages: List[Dict[str, Any]]
    identical: bool


class ErrorError(TypedDict):
    code: Literal['malformed_json', 'invalid_field', 'over_budget', 'too_large', 'unauthorized', 'forbidden', 'not_found', 'method_not_allowed', 'contradiction', 'conflict', 'stale', 'timeout', 'busy', 'rate_limited', 'unavailable', 'disk_full', 'read_only', 'no_model', 'model_failed', 'model_refused', 'model_rate_limited', 'upstream_auth', 'no_data', 'data_failed', 'internal']
    message: str
    param: Union[str, None]


class Error(TypedDict):
    error: ErrorError


class NewKey(TypedDict, total=False):
    kind: Literal['user', 'guest', 'service', 'admin']
    user: str
    admin: bool
    name: str
    ttl_seconds: int


class _Key(TypedDict):
    id: str
    kind: Literal['user', 'guest', 'service', 'admin']
    user: Union[str, None]
    admin: bool
    name: Union[str, None]
    key: str


class Key(_Key, total=False):
    ttl_seconds: Union[int, None]


class Keys(TypedDict):
    keys: List[Dict[str, Any]]
    has_more: bool


class RebuildStep(TypedDict, total=False):
    user: str
    anew: bool


class RebuiltCollection(TypedDict):
    name: str
    points: int
    passages: int


class Rebuilt(TypedDict):
    done: int
    users: int
    finished: bool
    collections: List[RebuiltCollection]


class Doctor(TypedDict):
    healthy: bool
    findings: List[Dict[str, Any]]
    notes: List[Dict[str, Any]]
    models: Dict[str, Any]
    store: Literal['local', 'memory', 'redis']
    index: Literal['local', 'qdrant']


class Models(TypedDict):
    object: Literal['list']
    data: List[Model]


class _Model(TypedDict):
    id: str
    object: Literal['model']
    created: int
    owned_by: str


class Model(_Model, total=False):
    model: Union[str, None]


class GuidedMessageSessionMeta(TypedDict, total=False):
    sessionId: str


class GuidedMessageMetaFromBuilderAberturaHibrida(TypedDict):
    sugestaoNivel: Literal[1, 2, 3]


class GuidedMessageMetaFromBuilderBlocoTecnicoForcado(TypedDict, total=False):
    intensidade: float
    resumo: str
    tags: List[str]
    categoria: str
    emocao: str


class GuidedMessageMetaFromBuilder(TypedDict, total=False):
    nome: str
    aberturaHibrida: GuidedMessageMetaFromBuilderAberturaHibrida
    blocoTecnicoForcado: GuidedMessageMetaFromBuilderBlocoTecnicoForcado


class _GuidedMessage(TypedDict):
    messages: List[Message]


class GuidedMessage(_GuidedMessage, total=False):
    userId: str
    guestId: str
    isGuest: bool
    stream: bool
    promptReadyImmediate: bool
    forcarMetodoViva: bool
    sessionMeta: GuidedMessageSessionMeta
    promptOverride: str
    metaFromBuilder: GuidedMessageMetaFromBuilder


class _GuidedAnswerMeta(TypedDict):
    mode: Literal['fast', 'stream', 'full', 'shortcut']
    nivel: Literal[1, 2, 3]
    vivaSteps: List[str]
    vivaAtivo: bool
    lowComplexity: bool
    saveMemory: bool


class GuidedAnswerMeta(_GuidedAnswerMeta, total=False):
    reason: str
    crisis: bool


class _GuidedAnswer(TypedDict):
    type: Literal['done']
    at: float
    sinceStartMs: float
    message: str
    intensidade: float
    tags: List[str]
    cache: bool
    fallback: bool
    meta: GuidedAnswerMeta


class GuidedAnswer(_GuidedAnswer, total=False):
    modelo: Union[str, None]
    resumo: Union[str, None]
    categoria: Union[str, None]
    emocao: Union[str, None]
    usage: Union[Dict[str, Any], None]
    trace: Course
    guestId: str


class _CourseCache(TypedDict):
    cache: str
    status: Literal['hit', 'miss']


class CourseCache(_CourseCache, total=False):
    key: str


class CourseHeuristic(TypedDict):
    name: str
    value: Any
    why: str


class _CourseModule(TypedDict):
    name: str
    status: str
    why: str
    tokens: Union[int, None]


class CourseModule(_CourseModule, total=False):
    missingTokens: int


class CourseEmbeddingResult(TypedDict):
    kind: str
    against: str
    similarity: Union[float, None]
    hits: int
    tookMs: float


class CourseLatency(TypedDict):
    firstTokenMs: Union[float, None]
    promptReadyMs: Union[float, None]
    totalMs: Union[float, None]


class CourseError(TypedDict):
    stage: str
    message: str
    atMs: float


class Course(TypedDict):
    traceId: str
    surface: str
    userId: Union[str, None]
    model: Union[str, None]
    cacheStatus: Literal['hit', 'miss', None]
    caches: List[CourseCache]
    heuristics: List[CourseHeuristic]
    modules: List[CourseModule]
    embeddingResult: Any
    embeddingResults: List[CourseEmbeddingResult]
    memoryDecision: Any
    latency: CourseLatency
    errors: List[CourseError]
    startedAt: Union[str, None]
    finishedAt: Union[str, None]
    prompts: List[str]
    running: bool


class TopicRunKala(TypedDict):
    kind: str


class _TopicRun(TypedDict):
    kala: TopicRunKala


class TopicRun(_TopicRun, total=False):
    model: Dict[str, Any]
    presetId: str
    includeDocId: bool
    userId: str


class Yoj(TypedDict):
    yoj: List[Dict[str, Any]]


class _IndexerRun(TypedDict):
    sessionId: str


class IndexerRun(_IndexerRun, total=False):
    responseId: str
    groups: List[Dict[str, Any]]
    userId: str


class IndexedSkipped(TypedDict):
    group: str
    why: str


class _Indexed(TypedDict):
    ok: bool
    indexed_groups: int
    indexed_messages: int
    batches: int


class Indexed(_Indexed, total=False):
    skipped: List[IndexedSkipped]


class _GroupState(TypedDict):
    sessionId: str
    group: str


class GroupState(_GroupState, total=False):
    expanded: bool
    state: Literal['expanded', 'collapsed']
    responseId: str
    userId: str


class GroupStateSet(TypedDict):
    ok: bool
    group: str
    expanded: bool
    updated_at: float


class Refusal(TypedDict):
    error: str


class JobRefusal(TypedDict):
    ok: Literal[False]
    error: str


class Summary(TypedDict):
    text: str
    upto_seq: int
    by: Literal['extract', 'model', 'caller']
    updated_at: float


class _NewSummary(TypedDict):
    text: str


class NewSummary(_NewSummary, total=False):
    upto_seq: int


class _NewMemory(TypedDict):
    text: str


class NewMemory(_NewMemory, total=False):
    meta: Union[Dict[str, Any], None]
    id: str
    valid_from: Union[float, str]
    valid_to: Union[float, str]
    supersedes: Union[List[Any], None]
    source: Dict[str, Any]
    confidence: float


class _MemorySuperseded_by(TypedDict):
    id: str
    by: Literal['rule', 'caller']


class MemorySuperseded_by(_MemorySuperseded_by, total=False):
    subject: str
    attribute: str
    of: str
    reason: str


class _MemorySupersede(TypedDict):
    id: str
    by: Literal['rule', 'caller']


class MemorySupersede(_MemorySupersede, total=False):
    subject: str
    attribute: str
    of: str
    reason: str


class _Memory(TypedDict):
    id: str
    text: str
    level: Literal['short', 'medium', 'long']
    meta: Union[Dict[str, Any], None]
    create_time: float


class Memory(_Memory, total=False):
    valid_from: float
    valid_to: float
    source: Dict[str, Any]
    confidence: float
    superseded_by: MemorySuperseded_by
    supersedes: List[MemorySupersede]


class MemoryChange(TypedDict, total=False):
    valid_from: Union[float, str, None]
    valid_to: Union[float, str, None]
    supersedes: Union[List[Any], None]
    confidence: Union[float, None]


class Named(TypedDict):
    id: str


class _MemoriesMemorySuperseded_by(TypedDict):
    id: str
    by: Literal['rule', 'caller']


class MemoriesMemorySuperseded_by(_MemoriesMemorySuperseded_by, total=False):
    subject: str
    attribute: str
    of: str
    reason: str


class _MemoriesMemorySupersede(TypedDict):
    id: str
    by: Literal['rule', 'caller']


class MemoriesMemorySupersede(_MemoriesMemorySupersede, total=False):
    subject: str
    attribute: str
    of: str
    reason: str


class _MemoriesMemory(TypedDict):
    id: str
    text: str
    level: Literal['short', 'medium', 'long']
    meta: Union[Dict[str, Any], None]
    create_time: float


class MemoriesMemory(_MemoriesMemory, total=False):
    valid_from: float
    valid_to: float
    source: Dict[str, Any]
    confidence: float
    superseded_by: MemoriesMemorySuperseded_by
    supersedes: List[MemoriesMemorySupersede]


class Memories(TypedDict):
    has_more: bool
    memories: List[MemoriesMemory]


class _Search(TypedDict):
    query: str


class Search(_Search, total=False):
    k: int
    explain: bool
    as_of: Union[float, str]


class _MemoryHitsHitSuperseded_by(TypedDict):
    id: str


class MemoryHitsHitSuperseded_by(_MemoryHitsHitSuperseded_by, total=False):
    reason: str


class _MemoryHitsHit(TypedDict):
    id: str
    text: str
    score: float
    level: Literal['short', 'medium', 'long']
    meta: Union[Dict[str, Any], None]


class MemoryHitsHit(_MemoryHitsHit, total=False):
    why: Dict[str, Any]
    valid_from: float
    valid_to: float
    source: Dict[str, Any]
    confidence: float
    superseded_by: MemoryHitsHitSuperseded_by


class MemoryHitsNear(TypedDict):
    id: str
    text: str
    score: float


class _MemoryHits(TypedDict):
    hits: List[MemoryHitsHit]


class MemoryHits(_MemoryHits, total=False):
    near: List[MemoryHitsNear]
    notes: List[str]


class _TurnSearch(TypedDict):
    query: str


class TurnSearch(_TurnSearch, total=False):
    k: int
    explain: bool
    thread: str
    as_of: Union[float, str]


class _TurnHitsHitSuperseded_by(TypedDict):
    id: str


class TurnHitsHitSuperseded_by(_TurnHitsHitSuperseded_by, total=False):
    reason: str


class _TurnHitsHit(TypedDict):
    id: str
    thread: str
    seq: int
    role: str
    text: str
    score: float
    create_time: float


class TurnHitsHit(_TurnHitsHit, total=False):
    why: Dict[str, Any]
    valid_from: float
    valid_to: float
    superseded_by: TurnHitsHitSuperseded_by


class TurnHitsNear(TypedDict):
    id: str
    text: str
    score: float


class _TurnHits(TypedDict):
    hits: List[TurnHitsHit]


class TurnHits(_TurnHits, total=False):
    near: List[TurnHitsNear]
    notes: List[str]


class NewCompaction(TypedDict, total=False):
    max_tokens: int
    keep: float
    recent_turns: int
    by: Literal['extract', 'model']
    max_text_tokens: int
    tokenizer: Literal['approx', 'o200k_base', 'cl100k_base']


class Compacted(TypedDict):
    compaction: Any
    tokens: int
    max_tokens: int


class Compaction(TypedDict):
    id: str
    created_at: float
    tokens_before: int
    tokens_after: int
    max_tokens: int
    tokenizer: Literal['approx', 'o200k_base', 'cl100k_base']
    spans: List[CompactedSpan]


_CompactedSpan = TypedDict("_CompactedSpan", {'id': str, 'in': Literal['thread', 'request'], 'first_seq': int, 'last_seq': int, 'turns': int, 'tokens': int, 'kind': Literal['tools', 'talk', 'mixed'], 'by': Literal['extract', 'model'], 'text': str})


class CompactedSpan(_CompactedSpan, total=False):
    children: List[str]
    refused: str
    restored_at: int


class Compactions(TypedDict):
    compactions: List[Compaction]
    has_more: bool


class SpanTurnsMessage(TypedDict):
    id: str
    seq: int
    create_time: float
    message: Dict[str, Any]


class SpanTurns(TypedDict):
    span: CompactedSpan
    messages: List[SpanTurnsMessage]
    missing: int


class Pins(TypedDict):
    turns: List[str]


class NewText(TypedDict, total=False):
    name: str
    text: str
    meta: Union[Dict[str, Any], None]
    id: str
    path: str


class IndexedTextSkippedFile(TypedDict):
    file: str
    why: str


class _IndexedTextSkipped(TypedDict):
    binary: int
    large: int
    unreadable: int


class IndexedTextSkipped(_IndexedTextSkipped, total=False):
    not_prose: int
    failed: int
    files: List[IndexedTextSkippedFile]


class _IndexedText(TypedDict):
    id: str
    passages: int


class IndexedText(_IndexedText, total=False):
    files: int
    skipped: IndexedTextSkipped


class TextsDocumentSkippedFile(TypedDict):
    file: str
    why: str


class _TextsDocumentSkipped(TypedDict):
    binary: int
    large: int
    unreadable: int


class TextsDocumentSkipped(_TextsDocumentSkipped, total=False):
    not_prose: int
    failed: int
    files: List[TextsDocumentSkippedFile]


class _TextsDocument(TypedDict):
    id: str
    name: str
    kind: Literal['document', 'repo']
    passages: int
    bytes: int
    updated_at: float


class TextsDocument(_TextsDocument, total=False):
    meta: Union[Dict[str, Any], None]
    files: int
    skipped: TextsDocumentSkipped


class Texts(TypedDict):
    has_more: bool
    documents: List[TextsDocument]


class KnownTextSkippedFile(TypedDict):
    file: str
    why: str


class _KnownTextSkipped(TypedDict):
    binary: int
    large: int
    unreadable: int


class KnownTextSkipped(_KnownTextSkipped, total=False):
    not_prose: int
    failed: int
    files: List[KnownTextSkippedFile]


class _KnownText(TypedDict):
    id: str
    name: str
    kind: Literal['document', 'repo']
    passages: int
    bytes: int
    updated_at: float


class KnownText(_KnownText, total=False):
    meta: Union[Dict[str, Any], None]
    files: int
    skipped: KnownTextSkipped


class _PassageSearch(TypedDict):
    query: str


class PassageSearch(_PassageSearch, total=False):
    k: int
    explain: bool
    kind: Literal['document', 'repo']
    document: str


class _PassageHitsHit(TypedDict):
    id: str
    document: str
    name: str
    text: str
    score: float
    meta: Union[Dict[str, Any], None]


class PassageHitsHit(_PassageHitsHit, total=False):
    file: str
    line: int
    page: int
    why: Dict[str, Any]


class PassageHitsNear(TypedDict):
    id: str
    text: str
    score: float


class _PassageHits(TypedDict):
    hits: List[PassageHitsHit]


class PassageHits(_PassageHits, total=False):
    near: List[PassageHitsNear]
    notes: List[str]


class _NewTask(TypedDict):
    title: str


class NewTask(_NewTask, total=False):
    notes: str
    due: str
    id: str


class TaskChange(TypedDict, total=False):
    title: str
    status: Literal['open', 'done']
    notes: Union[str, None]
    due: Union[str, None]


class _TasksTask(TypedDict):
    id: str
    title: str
    status: Literal['open', 'done']
    created_at: float
    updated_at: float


class TasksTask(_TasksTask, total=False):
    notes: str
    due: str
    done_at: float


class Tasks(TypedDict):
    has_more: bool
    tasks: List[TasksTask]


class _Task(TypedDict):
    id: str
    title: str
    status: Literal['open', 'done']
    created_at: float
    updated_at: float


class Task(_Task, total=False):
    notes: str
    due: str
    done_at: float


class _NewResult(TypedDict):
    content: Any


class NewResult(_NewResult, total=False):
    name: str


class _ResultsResult(TypedDict):
    id: str
    content: Any
    at: float


class ResultsResult(_ResultsResult, total=False):
    name: str


class Results(TypedDict):
    has_more: bool
    results: List[ResultsResult]


class MemoryContextRequest(TypedDict, total=False):
    user_id: str
    session_id: str
    task_id: str
    include_vector: bool
    query: str
    explain: Union[bool, str]
    budget_tokens: int
    tokenizer: str
    as_of: Union[float, str]


class _Reset(TypedDict):
    scope: Literal['all', 'vector', 'short_term', 'summary', 'user_data']


class Reset(_Reset, total=False):
    user_id: str
    session_id: str


class WasResetReset(TypedDict):
    documents: int
    passages: int
    traces: int


class _WasReset(TypedDict):
    reset: WasResetReset


class WasReset(_WasReset, total=False):
    erasing: bool


class Skills(TypedDict):
    skills: List[Dict[str, Any]]


class SkillRun(TypedDict, total=False):
    user_id: str
    session_id: str
    task_id: str
    arguments: Dict[str, Any]


class SkillResult(TypedDict):
    result: Any


class _Question(TypedDict):
    question: str


class Question(_Question, total=False):
    thread_id: str
    user_id: str
    stream: bool


class CompletionMetadata(TypedDict, total=False):
    thread_id: str


class _Completion(TypedDict):
    messages: List[Message]


class Completion(_Completion, total=False):
    model: str
    stream: bool
    user: str
    metadata: CompletionMetadata


class _Completed(TypedDict):
    id: str
    object: Literal['chat.completion']
    created: int
    model: str
    choices: List[Dict[str, Any]]


class Completed(_Completed, total=False):
    usage: Dict[str, Any]


class _MemoryChat(TypedDict):
    message: str


class MemoryChat(_MemoryChat, total=False):
    user_id: str
    session_id: str
    task_id: str
    stream: bool


_ReplySource = TypedDict("_ReplySource", {'from': Literal['memories', 'turns', 'documents'], 'id': str, 'name': str, 'text': str, 'score': float, 'n': int})


class ReplySource(_ReplySource, total=False):
    file: str
    heading: str
    line: int
    line_end: int
    page: int


class ReplyUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int


class ReplyCall(TypedDict):
    name: str
    arguments: str
    result: Any


class _Reply(TypedDict):
    answer: str
    thread_id: str
    standalone_question: str
    rewritten_by: Literal['nobody', 'rules', 'model']
    sources: List[ReplySource]
    tokens: int
    answered_by: str
    notes: List[str]


class Reply(_Reply, total=False):
    budget_tokens: Union[int, None]
    trace_id: str
    usage: ReplyUsage
    calls: List[ReplyCall]
    partial: Literal['client_left', 'model_failed', 'server_stopped']
    fallback: bool


class DataQuestion(TypedDict):
    question: str
    conversation_id: str
    nickname: str
    client_id: str


class DataAnswerMetaReference(TypedDict):
    used: bool
    reason: Literal['context_disabled', 'last_reference_disabled', 'no_entity', 'entity_not_allowed', 'input_has_ticker', 'no_candidate', 'expired', 'last_reference_applied']


class DataAnswerMetaUnread(TypedDict):
    kind: Literal['name', 'period', 'condition', 'pointer', 'unanswered']
    words: str


class _DataAnswerMeta(TypedDict):
    request_id: str
    intent: Union[str, None]
    entity: Union[str, None]
    planner: Dict[str, Any]
    reference: DataAnswerMetaReference
    rows: Dict[str, Any]
    cache: Dict[str, Any]
    narrator: Dict[str, Any]
    timings_us: Dict[str, Any]


class DataAnswerMeta(_DataAnswerMeta, total=False):
    bucket: Union[str, None]
    parameters: Dict[str, Any]
    notes: List[str]
    unread: List[DataAnswerMetaUnread]
    also: List[Dict[str, Any]]


class DataAnswer(TypedDict):
    status: Literal['ok', 'unroutable', 'incomplete']
    results: List[Dict[str, Any]]
    meta: DataAnswerMeta
    answer: str


class NewResponse(TypedDict, total=False):
    model: str
    input: Union[str, List[Any]]
    instructions: Union[str, None]
    previous_response_id: Union[str, None]
    conversation: Union[str, Dict[str, Any], None]
    store: Union[bool, None]
    stream: Union[bool, None]
    background: Union[bool, None]
    tools: List[Dict[str, Any]]
    tool_choice: Union[str, Dict[str, Any]]
    text: Dict[str, Any]
    truncation: Literal['auto', 'disabled', None]
    context_management: Union[List[Any], None]
    max_output_tokens: Union[int, None]
    metadata: Union[Dict[str, Any], None]
    user: str


class _Response(TypedDict):
    id: str
    object: Literal['response']
    created_at: float
    status: Literal['queued', 'in_progress', 'completed', 'incomplete', 'cancelled', 'failed']
    model: str
    output: List[Dict[str, Any]]


class Response(_Response, total=False):
    error: Union[Dict[str, Any], None]
    incomplete_details: Union[Dict[str, Any], None]
    usage: Union[Dict[str, Any], None]
    metadata: Dict[str, Any]
    conversation: Union[Dict[str, Any], None]
    previous_response_id: Union[str, None]
    expires_at: Union[int, None]


class CompactedResponse(TypedDict):
    id: str
    object: Literal['response.compaction']
    created_at: int
    output: List[Dict[str, Any]]
    usage: Dict[str, Any]


class DeletedResponse(TypedDict):
    id: str
    object: Literal['response']
    deleted: bool


class InputTokens(TypedDict):
    object: Literal['response.input_tokens']
    input_tokens: int


class NewConversation(TypedDict, total=False):
    items: List[Dict[str, Any]]
    metadata: Union[Dict[str, Any], None]
    user: str


class _ConversationChange(TypedDict):
    metadata: Union[Dict[str, Any], None]


class ConversationChange(_ConversationChange, total=False):
    user: str


class _Conversation(TypedDict):
    id: str
    object: Literal['conversation']
    created_at: int
    metadata: Dict[str, Any]


class Conversation(_Conversation, total=False):
    updated_at: int
    expires_at: Union[int, None]


class DeletedConversation(TypedDict):
    id: str
    object: Literal['conversation.deleted']
    deleted: bool


class ConversationList(TypedDict):
    object: Literal['list']
    data: List[Conversation]
    first_id: str
    last_id: str
    has_more: bool


class _NewItems(TypedDict):
    items: List[Dict[str, Any]]


class NewItems(_NewItems, total=False):
    user: str


class Item(TypedDict):
    id: str
    type: str


class ItemList(TypedDict):
    object: Literal['list']
    data: List[Item]
    first_id: str
    last_id: str
    has_more: bool


class _NewEmbeddings(TypedDict):
    input: Union[str, List[Any]]


class NewEmbeddings(_NewEmbeddings, total=False):
    model: str
    encoding_format: Literal['float', 'base64']
    dimensions: int
    user: str


class Embeddings(TypedDict):
    object: Literal['list']
    data: List[Embedding]
    model: str
    usage: Dict[str, Any]


class Embedding(TypedDict):
    object: Literal['embedding']
    index: int
    embedding: Union[List[Any], str]


class Documents(TypedDict):
    documents: List[Document]
    has_more: bool
