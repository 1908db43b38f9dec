//! Writes the vocabularies of the exact tokenizers where `src/tokens/vocabulary.rs` includes them: the bytes
//! of each token in the order of its rank, each after its length.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for (name, tokenizer) in [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())] {
        let mut bytes = Vec::new();
        for rank in 0..tokenizer.bpe.num_tokens() as u32 {
            let token = tokenizer.bpe.token_bytes(rank);
            bytes.push(u8::try_from(token.len()).expect("a token is shorter than 256 bytes"));
            bytes.extend_from_slice(token);
        }
        std::fs::write(Path::new(&out).join(name), bytes).expect("OUT_DIR can be written");
    }
}
