"""A stand-in for an identity provider: OpenID Connect on loopback, with three people and no safety.

Its page lists the people; a click signs in. Tokens are signed as real ones are, and the app checks
them as it checks real ones.
"""

from __future__ import annotations

import html
import secrets
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import unquote, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

PEOPLE = {
    "vera": ("Vera Viewer", ["staff"]),
    "anna": ("Anna Analyst", ["staff", "atom-analysts"]),
    "ben": ("Ben Analyst", ["atom-analysts"]),
    "ada": ("Ada Admin", ["atom-admins"]),
}


@dataclass
class Identity:
    """The provider.

    Args:
        port: where it listens.
        client_id: the one app that it knows.
        client_secret: that app's secret.
    """

    port: int
    client_id: str = "atom"
    client_secret: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    asked: list[str] = field(default_factory=list)
    """Ids of the people who were signed in, in order."""

    def __post_init__(self) -> None:
        self._key = RSAKey.generate_key(2048, parameters={"kid": "one"}, private=True)
        self._codes: dict[str, dict[str, str]] = {}
        app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._about),
                Route("/jwks", self._keys),
                Route("/authorize", self._authorize),
                Route("/pick", self._pick),
                Route("/token", self._token, methods=["POST"]),
            ]
        )
        config = uvicorn.Config(app, host="127.0.0.1", port=self.port, log_level="error")
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Identity:
        threading.Thread(target=self._server.run, daemon=True).start()
        while not self._server.started:
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True

    async def _about(self, request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def _keys(self, request: Request) -> Response:
        return JSONResponse({"keys": [self._key.as_dict(private=False)]})

    async def _authorize(self, request: Request) -> Response:
        assert request.query_params["client_id"] == self.client_id
        links = "".join(
            f'<p><a href="/pick?{html.escape(urlencode({**request.query_params, "who": who}))}">'
            f"{html.escape(name)}</a></p>"
            for who, (name, _) in PEOPLE.items()
        )
        return HTMLResponse(f"<title>Stand-in identity provider</title>{links}")

    async def _pick(self, request: Request) -> Response:
        code = secrets.token_urlsafe(12)
        self._codes[code] = dict(request.query_params)
        back = {"code": code, "state": request.query_params["state"]}
        return RedirectResponse(f"{request.query_params['redirect_uri']}?{urlencode(back)}", 302)

    async def _token(self, request: Request) -> Response:
        form = await request.form()
        given = request.headers.get("authorization", "")
        name, _, secret = b64decode(given.removeprefix("Basic ")).decode().partition(":")
        held = self._codes.pop(str(form["code"]), None)
        digest = sha256(str(form.get("code_verifier", "")).encode()).digest()
        proof = urlsafe_b64encode(digest).rstrip(b"=").decode()
        right = (unquote(name), unquote(secret)) == (self.client_id, self.client_secret)
        if not right or held is None or held["code_challenge"] != proof:
            return JSONResponse({"error": "invalid_grant"}, 400)
        who = held["who"]
        self.asked.append(who)
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": who,
            "aud": self.client_id,
            "iat": now,
            "exp": now + 300,
            "nonce": held["nonce"],
            "name": PEOPLE[who][0],
            "email": f"{who}@example.org",
            "groups": PEOPLE[who][1],
        }
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self._key)
        return JSONResponse(
            {"access_token": "a", "token_type": "Bearer", "expires_in": 300, "id_token": token}
        )
