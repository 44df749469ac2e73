// Node: what your server gives a signed-in visitor's page for footfall('identify', …).
import { createHash, createHmac } from 'node:crypto'

/** The secret is the pixel's identify secret, which the dashboard shows: it never leaves your server. */
export function identifyOf(email, secret) {
  const hem = createHash('sha256').update(email.trim().toLowerCase()).digest('hex')
  return { hem, signature: createHmac('sha256', secret).update(hem).digest('hex') }
}

// In the page: <script>footfall('identify', ${JSON.stringify(identifyOf(user.email, secret))})</script>
