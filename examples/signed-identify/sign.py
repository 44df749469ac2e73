"""Python: what your server gives a signed-in visitor's page for footfall('identify', ...)."""

import hashlib
import hmac


def identify_of(email: str, secret: str) -> dict:
    """The secret is the pixel's identify secret, which the dashboard shows: it never leaves your server."""
    hem = hashlib.sha256(email.strip().lower().encode()).hexdigest()
    return {"hem": hem, "signature": hmac.new(secret.encode(), hem.encode(), hashlib.sha256).hexdigest()}


# In the page: <script>footfall('identify', {{ identify_of(user.email, secret) | tojson }})</script>
