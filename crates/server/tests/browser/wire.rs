//! A connection between a browser and a server that a test can cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A wire to a server, which can be cut.
pub struct Wire {
    pub addr: SocketAddr,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    pub fn to(server: SocketAddr) -> Self {
        Self::over(TcpListener::bind("127.0.0.1:0").unwrap(), server)
    }

    /// The same from a place that the server was told of before it started.
    pub fn over(listener: TcpListener, server: SocketAddr) -> Self {
        let wire = Self { addr: listener.local_addr().unwrap(), open: Arc::default() };
        let open = wire.open.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let far = TcpStream::connect(server).unwrap();
                open.lock().unwrap().extend([near.try_clone().unwrap(), far.try_clone().unwrap()]);
                let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                std::thread::spawn(move || pass(near, far));
                std::thread::spawn(move || pass(far_too, near_too));
            }
        });
        wire
    }

    /// Ends every connection; new ones are taken.
    pub fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            // One that has ended by itself is as good.
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

/// Passes on what comes, until either side ends.
fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
}
