//! Weights from a safetensors file: eight bytes of length, a header of JSON, the data.
//!
//! Refuses a header that does not fit the file, tensors that overlap or leave holes, shapes and types that
//! were not expected, and weights that are not finite. Allocates nothing before the file is known to hold as
//! much; what is read is added to the print of the model.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3Default;

use super::error::{Fault, ModelError};

/// The header of the largest BERT has a hundredth of it.
const HEADER_BYTES_MAX: u64 = 4 << 20;
/// Of the data that is held in memory besides the weights.
const BUFFER_BYTES: u64 = 256 << 10;

pub struct Weights {
    path: PathBuf,
    file: File,
    /// Where the data begins.
    data_at: u64,
    tensors: BTreeMap<String, Tensor>,
    print: Xxh3Default,
}

#[derive(Debug, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

impl Weights {
    pub fn open(path: &Path, print: Xxh3Default) -> Result<Self, ModelError> {
        let open = || -> Result<Self, Fault> {
            let mut file = File::open(path)?;
            let bytes = file.metadata()?.len();
            let mut header_bytes = [0; 8];
            file.read_exact(&mut header_bytes)?;
            let header_bytes = u64::from_le_bytes(header_bytes);
            if header_bytes > HEADER_BYTES_MAX || header_bytes + 8 > bytes {
                return Err(Fault::Header { header_bytes, bytes, bytes_max: HEADER_BYTES_MAX });
            }
            let mut header = vec![0; header_bytes as usize];
            file.read_exact(&mut header)?;
            let data_at = header_bytes + 8;
            let tensors = read_header(&header, bytes - data_at)?;
            Ok(Self { path: path.to_owned(), file, data_at, tensors, print })
        };
        open().map_err(|fault| fault.of(path))
    }

    /// The tensor of this name, which the encoder of a larger model has behind a prefix, if it has this
    /// shape.
    pub fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        self.tensor(name, shape).map_err(|fault| fault.of(&self.path))
    }

    /// A print of all that was read.
    pub fn print(self) -> u64 {
        self.print.digest()
    }

    fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Fault> {
        let prefixed = format!("bert.{name}");
        let tensor = self.tensors.get(name).or_else(|| self.tensors.get(&prefixed));
        let tensor = tensor.ok_or_else(|| Fault::NoTensor(name.to_owned()))?;
        if !tensor.shape.iter().copied().eq(shape.iter().map(|size| *size as u64)) {
            let (found, expected) = (tensor.shape.clone(), shape.to_owned());
            return Err(Fault::Shape { tensor: name.to_owned(), found, expected });
        }
        let (from, to) = tensor.data_offsets;
        let dtype = Dtype::of(&tensor.dtype, name)?;
        let bytes = tensor.shape.iter().try_fold(dtype.bytes() as u64, |bytes, size| bytes.checked_mul(*size));
        if bytes != Some(to - from) {
            return Err(Fault::Offsets(name.to_owned()));
        }
        self.file.seek(SeekFrom::Start(self.data_at + from))?;
        let mut weights = Vec::with_capacity((to - from) as usize / dtype.bytes());
        let mut left = to - from;
        let mut buffer = Vec::new();
        while left > 0 {
            buffer.resize(left.min(BUFFER_BYTES) as usize, 0);
            self.file.read_exact(&mut buffer)?;
            self.print.update(&buffer);
            dtype.append(&buffer, &mut weights);
            left -= buffer.len() as u64;
        }
        match weights.iter().all(|weight| weight.is_finite()) {
            true => Ok(weights),
            false => Err(Fault::NotFinite(name.to_owned())),
        }
    }
}

/// The tensors, which must cover the data without overlap.
fn read_header(header: &[u8], data_bytes: u64) -> Result<BTreeMap<String, Tensor>, Fault> {
    let mut header: Map<String, Value> = serde_json::from_slice(header)?;
    header.remove("__metadata__");
    let mut tensors = BTreeMap::new();
    for (name, tensor) in header {
        tensors.insert(name, serde_json::from_value::<Tensor>(tensor)?);
    }
    let mut places: Vec<(u64, u64, &String)> =
        tensors.iter().map(|(name, tensor)| (tensor.data_offsets.0, tensor.data_offsets.1, name)).collect();
    places.sort_unstable();
    let mut end = 0;
    for (from, to, name) in places {
        if from != end || to < from || to > data_bytes {
            return Err(Fault::Offsets(name.clone()));
        }
        end = to;
    }
    match end == data_bytes {
        true => Ok(tensors),
        false => Err(Fault::Offsets("the end".to_owned())),
    }
}

#[derive(Debug, Clone, Copy)]
enum Dtype {
    F32,
    F16,
    Bf16,
}

impl Dtype {
    fn of(dtype: &str, tensor: &str) -> Result<Self, Fault> {
        match dtype {
            "F32" => Ok(Self::F32),
            "F16" => Ok(Self::F16),
            "BF16" => Ok(Self::Bf16),
            _ => Err(Fault::Dtype { tensor: tensor.to_owned(), dtype: dtype.to_owned() }),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    fn append(self, bytes: &[u8], weights: &mut Vec<f32>) {
        match self {
            Self::F32 => weights.extend(bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes)),
            Self::F16 => weights.extend(bytes.as_chunks().0.iter().map(|half| from_half(u16::from_le_bytes(*half)))),
            Self::Bf16 => {
                let wide = |half: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*half)) << 16);
                weights.extend(bytes.as_chunks().0.iter().map(wide));
            }
        }
    }
}

fn from_half(half: u16) -> f32 {
    let sign = u32::from(half >> 15) << 31;
    let exponent = u32::from(half >> 10) & 0x1f;
    let fraction = u32::from(half) & 0x3ff;
    let magnitude = match exponent {
        0 => fraction as f32 * 2f32.powi(-24),
        0x1f => f32::from_bits(0xff << 23 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}
