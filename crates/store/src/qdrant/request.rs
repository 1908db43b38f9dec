//! What is sent: method, path and body of every request.

use novelo_engine::path::encode_segment;
use serde::Serialize;
use serde_json::{Value, json};

use super::Collection;
use super::point::{Kind, Point, Sparse};

/// What is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub body: Option<String>,
}

/// Which points: those of one user, or some of them.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'s> {
    pub user: &'s str,
    pub kind: Option<Kind>,
    /// Of these threads or documents; of all where there are none.
    pub parents: &'s [&'s str],
}

impl<'s> Scope<'s> {
    pub fn user(user: &'s str) -> Self {
        Self { user, kind: None, parents: &[] }
    }

    fn must(&self) -> Vec<Value> {
        let mut must = vec![json!({"key": "user", "match": {"value": self.user}})];
        must.extend(self.kind.map(|kind| json!({"key": "kind", "match": {"value": kind.name()}})));
        if !self.parents.is_empty() {
            must.push(json!({"key": "parent", "match": {"any": self.parents}}));
        }
        must
    }

    fn filter(&self) -> Value {
        json!({"must": self.must()})
    }
}

/// A question's embedding, and the print of the model that it is of: vectors of other models are not compared
/// with it.
#[derive(Debug, Clone, Copy)]
pub struct Dense<'d> {
    pub model: &'d str,
    pub vector: &'d [f32],
}

/// Makes requests.
#[derive(Debug, Clone)]
pub struct Requests {
    prefix: String,
}

/// What a hit must say of itself to be found again.
const PLACE: [&str; 3] = ["of", "seq", "digest"];

impl Requests {
    /// For collections whose names begin with this.
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// The full name of a collection.
    pub fn name(&self, of: Collection) -> String {
        format!("{}{}", self.prefix, of.name())
    }

    /// Asks what a collection is like; 404 says that there is none.
    pub fn look(&self, of: Collection) -> Request {
        Request { method: "GET", path: self.path(of, ""), body: None }
    }

    /// Makes a collection, for embeddings of so many dimensions if there are any. Every search is of one
    /// user, so there is a graph for each user and none over all.
    pub fn create(&self, of: Collection, dimensions: Option<usize>) -> Request {
        let mut body = json!({"sparse_vectors": {"sparse": {}}, "hnsw_config": {"m": 0, "payload_m": 16}});
        if let (Some(dimensions), Some(body)) = (dimensions, body.as_object_mut()) {
            body.insert("vectors".into(), json!({"dense": {"size": dimensions, "distance": "Cosine"}}));
        }
        self.put(of, "", &body)
    }

    /// Makes what filters need, which is no harm where it is there. The user is what points are kept together
    /// by.
    pub fn fields(&self, of: Collection) -> [Request; 4] {
        let field = |name: &str, schema: Value| {
            self.put(of, "/index?wait=true", &json!({"field_name": name, "field_schema": schema}))
        };
        let keyword = || json!({"type": "keyword"});
        [
            field("user", json!({"type": "keyword", "is_tenant": true})),
            field("kind", keyword()),
            field("parent", keyword()),
            field("model", keyword()),
        ]
    }

    /// Puts points in, in place of those with their ids.
    pub fn upsert(&self, into: Collection, points: &[Point<'_>]) -> Request {
        #[derive(Serialize)]
        struct UpsertBody<'b> {
            points: &'b [Point<'b>],
        }
        self.put(into, "/points?wait=true", &UpsertBody { points })
    }

    /// Looks for what is near a question in meaning, and for what shares its terms: one list for each that is
    /// asked for, in this order.
    pub fn query(
        &self,
        of: Collection,
        scope: &Scope<'_>,
        dense: Option<Dense<'_>>,
        sparse: &[(u32, f32)],
        limit: usize,
    ) -> Request {
        #[derive(Serialize)]
        struct SearchBody<'b> {
            searches: Vec<Search<'b>>,
        }
        #[derive(Serialize)]
        struct Search<'b> {
            query: Wanted<'b>,
            using: &'static str,
            filter: Value,
            limit: usize,
            with_payload: [&'static str; 3],
        }
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Wanted<'b> {
            Near(&'b [f32]),
            Sharing(Sparse),
        }
        let near = dense.map(|dense| {
            let mut must = scope.must();
            must.push(json!({"key": "model", "match": {"value": dense.model}}));
            let (query, filter) = (Wanted::Near(dense.vector), json!({"must": must}));
            Search { query, using: "dense", filter, limit, with_payload: PLACE }
        });
        let sharing = Sparse::of(sparse).map(|sparse| {
            let (query, filter) = (Wanted::Sharing(sparse), scope.filter());
            Search { query, using: "sparse", filter, limit, with_payload: PLACE }
        });
        self.post(of, "/points/query/batch", &SearchBody { searches: near.into_iter().chain(sharing).collect() })
    }

    /// Goes through points by their ids, without their vectors, from an id on.
    pub fn scroll(&self, of: Collection, scope: &Scope<'_>, from: Option<&str>, limit: usize) -> Request {
        let mut body = json!({"filter": scope.filter(), "limit": limit, "with_vector": false});
        if let Some(body) = body.as_object_mut() {
            body.insert("with_payload".into(), json!(["of", "seq", "digest", "model"]));
            body.extend(from.map(|from| ("offset".to_owned(), json!(from))));
        }
        self.post(of, "/points/scroll", &body)
    }

    pub fn count(&self, of: Collection, scope: &Scope<'_>) -> Request {
        self.post(of, "/points/count", &json!({"filter": scope.filter(), "exact": true}))
    }

    /// Counts the points of all users.
    pub fn count_all(&self, of: Collection) -> Request {
        self.post(of, "/points/count", &json!({"exact": true}))
    }

    /// Removes points of one user by their ids.
    pub fn remove(&self, of: Collection, user: &str, ids: &[String]) -> Request {
        let mut must = Scope::user(user).must();
        must.push(json!({"has_id": ids}));
        self.post(of, "/points/delete?wait=true", &json!({"filter": {"must": must}}))
    }

    pub fn remove_all(&self, of: Collection, scope: &Scope<'_>) -> Request {
        self.post(of, "/points/delete?wait=true", &json!({"filter": scope.filter()}))
    }

    /// Drops a collection with the points of all users.
    pub fn drop(&self, of: Collection) -> Request {
        Request { method: "DELETE", path: self.path(of, ""), body: None }
    }

    fn put(&self, of: Collection, rest: &str, body: &impl Serialize) -> Request {
        Request { method: "PUT", ..self.post(of, rest, body) }
    }

    fn post(&self, of: Collection, rest: &str, body: &impl Serialize) -> Request {
        let body = serde_json::to_string(body).expect("bodies are made of texts and numbers");
        Request { method: "POST", path: self.path(of, rest), body: Some(body) }
    }

    fn path(&self, of: Collection, rest: &str) -> String {
        format!("/collections/{}{rest}", encode_segment(&self.name(of)))
    }
}
