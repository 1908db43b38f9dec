//! The caps that a caller can meet, in one table.
//!
//! Owns the caps that error messages quote by name, and those on connections, queues and waiting. A cap is
//! enforced where the bytes come in; this module only says what it is. `docs/limits.md` is this table, and a
//! test keeps it so. Caps that only one module knows, such as the bounds of a filter's option or of a policy
//! file, are constants of that module; its errors quote their numbers.

/// One cap: its name, its value and what it bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The name that errors quote.
    pub name: &'static str,
    /// The largest value that is accepted.
    pub value: usize,
    /// What it bounds, with its unit.
    pub bounds: &'static str,
}

macro_rules! limits {
    ($($name:ident = $value:expr, $bounds:literal;)*) => {
        $(#[doc = $bounds] pub const $name: usize = $value;)*

        /// All caps, in the order of the docs.
        pub const ALL: &[Limit] = &[$(Limit { name: stringify!($name), value: $value, bounds: $bounds }),*];
    };
}

limits! {
    BODY_BYTES_MAX = 16 * 1024 * 1024, "bytes of a request body";
    IMPORT_LINE_BYTES_MAX = 17 * 1024 * 1024, "bytes of one line of an import: any document, escaped, and its path";
    MESSAGE_BYTES_MAX = 8 * 1024 * 1024, "bytes of one message or document";
    JSON_DEPTH_MAX = 128, "nesting of one message or document";
    ID_BYTES_MAX = 256, "bytes of a user, thread or document id";
    PATH_SEGMENTS_MAX = 16, "segments of a document path";
    APPEND_MESSAGES_MAX = 1_000, "messages in one append";
    INLINE_MESSAGES_MAX = 20_000, "messages given inline to one context";
    BATCH_OPS_MAX = 400, "operations in one batch";
    CONVERSATION_ITEMS_MAX = 20, "items in one request that makes a conversation or adds to it";
    ITEMS_PAGE_MAX = 100, "items of one page of a conversation or a response";
    RESPONSE_WAIT_S_MAX = 300, "seconds that a request waits for another response in its conversation, where it asks to";
    EMBEDDING_INPUTS_MAX = 2_048, "texts in one request for embeddings";
    PAGE_MAX = 1_000, "entries of one page of a list";
    CONTEXT_TURNS_MAX = 10_000, "newest turns of a thread, or documents of a collection, that one context looks at";
    BUDGET_TOKENS_MAX = 10_000_000, "tokens of a budget";
    RECIPE_DEPTH_MAX = 6, "nesting of a recipe's components";
    RECIPE_NODES_MAX = 128, "components of a recipe, groups and leaves together";
    RECIPE_FILTERS_MAX = 32, "filters of a recipe";
    ADDED_TEXT_BYTES_MAX = 1_024, "bytes of a text that is added to many messages: framing, placeholder, missingContent";
    COLLAPSE_SIZE_MAX = 10_000, "groups of one collapse response and their items, together";
    GROUPS_PER_MESSAGE_MAX = 200, "groups in one message's index document; more go to documents of their own";
    THREAD_PINS_MAX = 200, "pinned turns of a thread";
    THREAD_COMPACTIONS_MAX = 1_000, "compactions of a thread; the oldest that lie inside others go first";
    RECALL_HITS_MAX = 100, "hits of one search, or of one recall in a recipe";
    QUESTION_BYTES_MAX = 64 * 1024, "bytes of a question";
    MEMORY_BYTES_MAX = 64 * 1024, "bytes of a memory or a summary, of a meta object, of a task's title or notes";
    SUPERSEDES_MAX = 100, "memories that one memory replaces because a caller says so";
    DOCUMENT_PASSAGES_MAX = 50_000, "passages of one document or repository";
    REPO_FILES_MAX = 20_000, "files of one repository, skipped ones included";
    REPO_FILE_BYTES_MAX = 1024 * 1024, "bytes of a file of a repository; larger ones are skipped and counted";
    READ_FILE_BYTES_MAX = 64 * 1024 * 1024, "bytes of a file of a repository that a parser reads: PDF, DOCX, XLSX, ODS, XLS, EPUB, HTML, CSV";
    READ_TEXT_BYTES_MAX = 16 * 1024 * 1024, "bytes of the text of such a file";
    READ_MEMORY_BYTES_MAX = 1024 * 1024 * 1024, "bytes of memory of the process that reads such a file";
    READ_WAIT_S_MAX = 30, "seconds that reading such a file may take";
    TASK_RESULT_BYTES_MAX = 1024 * 1024, "bytes of the content of a task's result";
    REPLIES_MAX = 1_000, "questions being answered at once";
    MODEL_CALLS_MAX = 256, "calls to models at once; more wait, within their deadlines";
    MODEL_FRAME_BYTES_MAX = 4 * 1024 * 1024, "bytes of one event of a model's stream, or of an answer that comes in one piece";
    MODEL_ANSWER_BYTES_MAX = 4 * 1024 * 1024, "bytes of text and tool calls of one answer of a model";
    MODEL_TOOL_CALLS_MAX = 64, "tool calls of one answer of a model";
    MODEL_STREAM_BYTES_MAX = 256 * 1024 * 1024, "bytes of one stream of a model, all that frames the text included";
    RECENT_TURNS_MAX = 10_000, "turns of a conversation that are looked back at where its policy sets no number";
    ENTITIES_MAX = 512, "entities of a catalogue";
    ENTITY_COLUMNS_MAX = 64, "columns of an entity, and of what a query answers";
    ENTITY_QUERIES_MAX = 16, "queries of an entity";
    ENTITY_CONDITIONS_MAX = 32, "conditions of an entity";
    CONDITION_WORDS_MAX = 500, "words or phrases that state one condition";
    ASKED_BY_MAX = 32, "words or phrases that ask for one column";
    ASKED_BY_BYTES_MAX = 128, "bytes of one of them";
    SQL_BYTES_MAX = 16 * 1024, "bytes of a query";
    TEMPLATE_BYTES_MAX = 2 * 1024, "bytes of a template, a label or a name in an entity, and of what it is about";
    ROWS_MAX = 1_000, "rows of what a query answers; an entity may have less";
    ROWS_BYTES_MAX = 4 * 1024 * 1024, "bytes of what a query answers; rows past them are cut, and the answer says so";
    CELL_BYTES_MAX = 64 * 1024, "bytes of one text in it";
    QUERY_TEXT_BYTES_MAX = 1024 * 1024, "bytes of one value that a query is given or makes on its way";
    QUERY_WAIT_MS_MAX = 5_000, "milliseconds a query may take, and may wait for its turn before that";
    QUERY_CONNECTIONS_MAX = 4, "queries at once; more wait";
    ENTITY_CACHE_S_MAX = 86_400, "seconds an answer from data may be given again";
    CONNECTIONS_MAX = 4_096, "connections open at once";
    WRITE_QUEUE_MAX = 8_192, "writes waiting for the committer";
    HEADER_WAIT_S_MAX = 10, "seconds a client may take to send its headers";
    BODY_WAIT_S_MAX = 30, "seconds a client may take to send its body";
    STALL_S_MAX = 30, "seconds a client may stop reading its answer";
}
