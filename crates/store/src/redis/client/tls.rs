//! The certificates that are trusted over `rediss://`.
//!
//! Owns the certificates: those that browsers trust, or those of a file that the address names. Refuses a
//! server that shows none of these.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::Error;

pub(super) fn config(ca: Option<&Path>) -> Result<Arc<ClientConfig>, Error> {
    let roots = match ca {
        None => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
        Some(path) => {
            read_roots(path).map_err(|why| Error::Invalid(format!("certificates in {}: {why}", path.display())))?
        }
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Invalid(format!("TLS cannot be set up: {error}")))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

fn read_roots(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())? {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() { Err("there is none".into()) } else { Ok(roots) }
}
