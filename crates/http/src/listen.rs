//! How does a server of ours listen on an address?

use std::io;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};

/// The number of connections that wait to be accepted. Beyond it, a client tries again only after a second.
const BACKLOG: u32 = 4096;

/// Listens on the first of these addresses that can be had.
pub async fn bind(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut refused = None;
    for address in lookup_host(address).await? {
        match listen(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused
        .unwrap_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no address of that name")))
}

/// Listens on one address. Requires a runtime.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // Elsewhere it would let two servers have one port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn hundreds_of_clients_can_knock_before_one_is_let_in() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn");
        let allowed: usize = allowed
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(128);
        let listener = bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut clients = Vec::new();
        for _ in 0..allowed.min(400) {
            let client =
                tokio::time::timeout(Duration::from_secs(20), TcpStream::connect(address)).await;
            clients.push(client.expect("nobody has to wait").unwrap());
        }
    }

    #[tokio::test]
    async fn an_address_that_is_taken_or_not_ours_is_refused() {
        let taken = bind("127.0.0.1:0").await.unwrap().into_std().unwrap();
        let again = bind(taken.local_addr().unwrap()).await;
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }
}
