//! The forward pass of a BERT encoder.
//!
//! Tokens of all texts of a batch stand in one matrix, a row each and nothing between them, so that no work
//! goes into padding; only attention looks at one text at a time. A text's vector therefore does not depend
//! on its neighbours.

use std::ops::Range;

use fearless_simd::Level;

use super::config::{Config, Pooling};
use super::error::ModelError;
use super::math::{Activation, Norm, softmax};
use super::product::{Panels, Place, Rows, product};
use super::safetensors::Weights;

#[derive(Debug)]
pub struct Bert {
    level: Level,
    hidden: usize,
    heads: usize,
    intermediate: usize,
    activation: Activation,
    pooling: Pooling,
    words: Vec<f32>,
    /// With the embedding of the first token type, which is the only one in use.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    /// Queries, keys and values side by side. The queries are scaled already.
    attend: Panels,
    attended: Panels,
    attended_norm: Norm,
    widen: Panels,
    narrow: Panels,
    norm: Norm,
}

impl Bert {
    pub fn read(config: &Config, weights: &mut Weights) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let words = weights.read("embeddings.word_embeddings.weight", &[config.vocab, hidden])?;
        let mut positions = weights.read("embeddings.position_embeddings.weight", &[config.positions, hidden])?;
        let types = weights.read("embeddings.token_type_embeddings.weight", &[config.token_types, hidden])?;
        for position in positions.chunks_exact_mut(hidden) {
            position.iter_mut().zip(&types).for_each(|(position, kind)| *position += kind);
        }
        let norm = read_norm(config, weights, "embeddings.LayerNorm")?;
        let layers = (0..config.layers).map(|at| Layer::read(config, weights, at)).collect::<Result<_, _>>()?;
        Ok(Self {
            level: Level::new(),
            hidden,
            heads: config.heads,
            intermediate: config.intermediate,
            activation: config.activation,
            pooling: config.pooling,
            words,
            positions,
            norm,
            layers,
        })
    }

    /// The vectors of texts of at least one token each, whose numbers are below the size of the vocabulary.
    pub fn embed(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let mut at = 0;
        let ranges: Vec<Range<usize>> = texts.iter().map(|ids| (at, at += ids.len()).0..at).collect();
        let mut states = self.embeddings(texts);
        let mut scratch = Scratch::new(states.len() / self.hidden, self.hidden, self.intermediate);
        for layer in &self.layers {
            self.layer(layer, &ranges, &mut states, &mut scratch);
        }
        ranges.into_iter().map(|range| self.pool(&states, range)).collect()
    }

    fn embeddings(&self, texts: &[Vec<u32>]) -> Vec<f32> {
        let mut words = Vec::new();
        let mut positions = Vec::new();
        for ids in texts {
            for (id, position) in ids.iter().zip(self.positions.chunks_exact(self.hidden)) {
                let from = *id as usize * self.hidden;
                words.extend_from_slice(self.words.get(from..from + self.hidden).unwrap_or(position));
                positions.extend_from_slice(position);
            }
        }
        self.norm.add(self.level, &mut words, &positions);
        words
    }

    fn layer(&self, layer: &Layer, texts: &[Range<usize>], states: &mut Vec<f32>, scratch: &mut Scratch) {
        self.linear(states, &layer.attend, None, &mut scratch.attend);
        for text in texts {
            self.attention(text.clone(), scratch);
        }
        self.linear(&scratch.mixed, &layer.attended, None, &mut scratch.narrow);
        layer.attended_norm.add(self.level, &mut scratch.narrow, states);
        std::mem::swap(states, &mut scratch.narrow);
        self.linear(states, &layer.widen, Some(self.activation), &mut scratch.wide);
        self.linear(&scratch.wide, &layer.narrow, None, &mut scratch.narrow);
        layer.norm.add(self.level, &mut scratch.narrow, states);
        std::mem::swap(states, &mut scratch.narrow);
    }

    fn linear(&self, left: &[f32], right: &Panels, activation: Option<Activation>, out: &mut [f32]) {
        let place = Place { data: out, stride: right.columns(), from: 0 };
        product(self.level, Rows::whole(left, right.depth()), right, activation, place);
    }

    /// Mixes the values of one text's tokens, head by head.
    fn attention(&self, text: Range<usize>, scratch: &mut Scratch) {
        let tokens = text.len();
        let (hidden, width) = (self.hidden, self.hidden / self.heads);
        let range = |columns: usize| text.start * columns..text.end * columns;
        let Some(attend) = scratch.attend.get(range(3 * hidden)) else { return };
        let Some(mixed) = scratch.mixed.get_mut(range(hidden)) else { return };
        scratch.scores.resize(tokens * tokens, 0.0);
        for head in 0..self.heads {
            let part = |of: usize| Rows { data: attend, stride: 3 * hidden, from: of * hidden + head * width, width };
            let scores = &mut scratch.scores;
            scratch.right.pack_columns(part(1));
            product(self.level, part(0), &scratch.right, None, Place { data: scores, stride: tokens, from: 0 });
            softmax(self.level, scores, tokens);
            scratch.right.pack_rows(part(2));
            let shares = Rows::whole(scores, tokens);
            let place = Place { data: mixed, stride: hidden, from: head * width };
            product(self.level, shares, &scratch.right, None, place);
        }
    }

    fn pool(&self, states: &[f32], text: Range<usize>) -> Vec<f32> {
        let mut rows = states.chunks_exact(self.hidden).skip(text.start).take(text.len());
        let mut pooled = rows.next().map(<[f32]>::to_vec).unwrap_or_default();
        if self.pooling == Pooling::Mean {
            for row in rows {
                pooled.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        }
        let length = pooled.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        // Weights that are finite but absurd may overflow, or cancel: such a vector is near to nothing.
        let usable = length.is_normal();
        pooled.iter_mut().for_each(|x| *x = if usable { (f64::from(*x) / length) as f32 } else { 0.0 });
        pooled
    }
}

/// Matrices that a forward pass writes and reads, kept from layer to layer.
struct Scratch {
    attend: Vec<f32>,
    mixed: Vec<f32>,
    narrow: Vec<f32>,
    wide: Vec<f32>,
    scores: Vec<f32>,
    right: Panels,
}

impl Scratch {
    fn new(tokens: usize, hidden: usize, wide: usize) -> Self {
        let matrix = |columns| vec![0.0; tokens * columns];
        Self {
            attend: matrix(3 * hidden),
            mixed: matrix(hidden),
            narrow: matrix(hidden),
            wide: matrix(wide),
            scores: Vec::new(),
            right: Panels::default(),
        }
    }
}

impl Layer {
    fn read(config: &Config, weights: &mut Weights, at: usize) -> Result<Self, ModelError> {
        let (hidden, wide) = (config.hidden, config.intermediate);
        let name = |part: &str| format!("encoder.layer.{at}.{part}");
        let (mut attend, mut attend_bias) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let (mut matrix, mut bias) =
                read_dense(weights, &name(&format!("attention.self.{part}")), [hidden, hidden])?;
            if part == "query" {
                let scale = ((hidden / config.heads) as f32).sqrt().recip();
                matrix.iter_mut().chain(&mut bias).for_each(|weight| *weight *= scale);
            }
            attend.append(&mut matrix);
            attend_bias.append(&mut bias);
        }
        let mut dense = |part: &str, shape: [usize; 2]| -> Result<Panels, ModelError> {
            let (matrix, bias) = read_dense(weights, &name(part), shape)?;
            Ok(pack(&matrix, shape[1], &bias))
        };
        Ok(Self {
            attend: pack(&attend, hidden, &attend_bias),
            attended: dense("attention.output.dense", [hidden, hidden])?,
            widen: dense("intermediate.dense", [wide, hidden])?,
            narrow: dense("output.dense", [hidden, wide])?,
            attended_norm: read_norm(config, weights, &name("attention.output.LayerNorm"))?,
            norm: read_norm(config, weights, &name("output.LayerNorm"))?,
        })
    }
}

/// The matrix of a linear layer, a row for each output, and its bias.
fn read_dense(weights: &mut Weights, name: &str, shape: [usize; 2]) -> Result<(Vec<f32>, Vec<f32>), ModelError> {
    let matrix = weights.read(&format!("{name}.weight"), &shape)?;
    Ok((matrix, weights.read(&format!("{name}.bias"), &[shape[0]])?))
}

fn pack(matrix: &[f32], columns: usize, bias: &[f32]) -> Panels {
    let mut panels = Panels::default();
    panels.pack_columns(Rows::whole(matrix, columns));
    panels.set_bias(bias);
    panels
}

fn read_norm(config: &Config, weights: &mut Weights, name: &str) -> Result<Norm, ModelError> {
    let scale = weights.read(&format!("{name}.weight"), &[config.hidden])?;
    let shift = weights.read(&format!("{name}.bias"), &[config.hidden])?;
    Ok(Norm { scale, shift, epsilon: config.norm_epsilon })
}
