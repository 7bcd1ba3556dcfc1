//! A way in over HTTP for one program: a path that only it knows, with someone who looks at all that passes.

use super::exchange::{HttpProxy, limits};
use super::{Target, client};
use crate::client::{Endpoint, Pipe, ServerSpec};
use crate::proxy::ProxyError;
use crate::proxy::bare::Bare;
use crate::proxy::connection::connect;
use crate::proxy::front::{Front, FrontSessions};
use crate::proxy::interpose::Interposer;
use crate::proxy::record::Recorder;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use hyper::body::Incoming;
use mcptest_http::response::{self, OwnResponse};
use mcptest_http::{Broken, Guard};
use parking_lot::Mutex;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The default path of a server.
const PATH: &str = "/mcp";

/// The accepted clients and their path.
pub(crate) struct PrivatePath {
    /// The first part of the path, which only the program knows.
    pub(crate) token: String,
    pub(crate) guard: Guard,
}

impl PrivatePath {
    /// The path behind a token, on the loopback address.
    fn behind(token: String) -> Self {
        Self {
            token,
            guard: Guard::for_address(Ipv4Addr::LOCALHOST.into()),
        }
    }

    /// The path after the token, or why the request is refused.
    #[expect(clippy::result_large_err, reason = "a refusal is sent at once")]
    pub(crate) fn path_behind(&self, parts: &Parts) -> Result<String, OwnResponse> {
        if let Some((status, sentence)) = self.guard.refusal(&parts.uri, &parts.headers) {
            return Err(refused(status, &sentence));
        }
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let behind = path
            .strip_prefix('/')
            .and_then(|path| path.strip_prefix(&self.token));
        match behind {
            Some(behind) if behind.starts_with('/') => Ok(behind.to_owned()),
            _ => Err(refused(StatusCode::NOT_FOUND, "this path does not exist")),
        }
    }
}

fn refused(status: StatusCode, sentence: &str) -> OwnResponse {
    response::plain(status, format!("mcptest: {sentence}\n"))
}

/// A server behind a proxy.
pub struct PrivateProxy {
    /// The first part of the path, which only the program knows.
    pub token: String,
    /// The server.
    pub server: ServerSpec,
    /// The observer between client and server.
    pub interposer: Arc<dyn Interposer>,
}

impl PrivateProxy {
    /// The server's address behind this proxy.
    pub fn url(&self, listener: &TcpListener) -> Result<String, ProxyError> {
        let address = listener
            .local_addr()
            .map_err(|error| ProxyError::NotListening {
                address: "127.0.0.1".to_owned(),
                reason: error.to_string(),
            })?;
        let path = match &self.server.endpoint {
            Endpoint::Url { url, .. } => Target::parse(url)?.url.path().to_owned(),
            _ => PATH.to_owned(),
        };
        Ok(format!("http://{address}/{}{path}", self.token))
    }

    /// Serves until `stop`; then the servers that were started end.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ProxyError> {
        match self.server.endpoint.clone() {
            Endpoint::Url { url, headers } => {
                self.serve_url(listener, stop, &Target::parse(&url)?, &headers)
                    .await
            }
            endpoint => self.serve_pipes(listener, stop, endpoint).await,
        }
    }

    async fn serve_url(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
        target: &Target,
        headers: &[(String, String)],
    ) -> Result<(), ProxyError> {
        let endpoint = Endpoint::Url {
            url: self.url(&listener)?,
            headers: Vec::new(),
        };
        let server = Arc::new(UrlServer {
            private_path: PrivatePath::behind(self.token),
            bare: Bare::new(ServerSpec {
                endpoint,
                ..self.server
            }),
            shared: Arc::new(HttpProxy {
                headers: header_map(headers),
                interposer: Some(self.interposer),
                ..HttpProxy::new(client(target)?, target.clone(), Recorder::off())
            }),
        });
        let enter = Arc::clone(&server);
        // Its goodbye still goes through this proxy.
        let stop = async {
            stop.await;
            server.bare.close().await;
        };
        let exchange = move |request| Arc::clone(&enter).exchange(request);
        mcptest_http::serve(listener, limits(), exchange, stop).await;
        Ok(())
    }

    async fn serve_pipes(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
        endpoint: Endpoint,
    ) -> Result<(), ProxyError> {
        let pipes = Arc::new(Pipes {
            endpoint,
            interposer: self.interposer,
            open: Mutex::default(),
        });
        let open = Pipes::opener(&pipes);
        let endpoint = Endpoint::Pipe(Arc::clone(&open));
        let front = Arc::new(Front {
            private_path: PrivatePath::behind(self.token),
            open,
            bare: Bare::new(ServerSpec {
                endpoint,
                ..self.server
            }),
            sessions: Mutex::<FrontSessions>::default(),
        });
        let enter = Arc::clone(&front);
        let exchange = move |request| Arc::clone(&enter).exchange(request);
        mcptest_http::serve(listener, limits(), exchange, stop).await;
        front.bare.close().await;
        drop(front);
        let open = std::mem::take(&mut *pipes.open.lock());
        open.join_all().await;
        Ok(())
    }
}

/// Connections to a server over pipes, which all end with this value.
struct Pipes {
    endpoint: Endpoint,
    interposer: Arc<dyn Interposer>,
    open: Mutex<JoinSet<()>>,
}

impl Pipes {
    fn opener(this: &Arc<Self>) -> Pipe {
        let this = Arc::downgrade(this);
        Arc::new(move || {
            let (near, far) = tokio::io::duplex(64 << 10);
            let (near_reader, near_writer) = tokio::io::split(near);
            if let Some(this) = this.upgrade() {
                let (input, output) = tokio::io::split(far);
                let (endpoint, interposer) = (this.endpoint.clone(), Arc::clone(&this.interposer));
                let connection = async move {
                    if let Err(error) =
                        connect(&endpoint, Arc::clone(&interposer), input, output).await
                    {
                        interposer.misbehaved(error.to_string());
                    }
                };
                let mut open = this.open.lock();
                while open.try_join_next().is_some() {}
                open.spawn(connection);
            }
            (Box::new(near_reader), Box::new(near_writer))
        })
    }
}

/// A server with its own URL.
struct UrlServer {
    private_path: PrivatePath,
    bare: Bare,
    shared: Arc<HttpProxy>,
}

impl UrlServer {
    async fn exchange(self: Arc<Self>, request: Request<Incoming>) -> Result<OwnResponse, Broken> {
        let (parts, body) = request.into_parts();
        match self.private_path.path_behind(&parts) {
            Ok(path) => {
                self.shared
                    .exchange_behind(&self.bare, path, parts, body)
                    .await
            }
            Err(refused) => Ok(refused),
        }
    }
}

/// The suite's headers, without unsendable ones.
fn header_map(headers: &[(String, String)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        if let (Ok(name), Ok(mut value)) =
            (HeaderName::try_from(name), HeaderValue::from_str(value))
        {
            value.set_sensitive(true);
            map.append(name, value);
        }
    }
    map.remove(header::HOST);
    map
}
