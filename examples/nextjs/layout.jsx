/**
 * Next.js, app router: app/layout.jsx. Routers need no hook: the pixel sees pushState and its like by itself. Your
 * pixel's id goes in place of PIXEL_ID, your collector's address in place of this one.
 *
 * With a Content-Security-Policy whose nonce your middleware makes: const nonce = (await headers()).get('x-nonce'),
 * and nonce={nonce} on both scripts.
 */
const stub =
  '!function(w){(w.footfall||0).call||(w.footfall=function(){(w.footfall.q=w.footfall.q||[]).push(arguments)})}(window)'

export default function RootLayout({ children }) {
  return (
    <html lang="en">
      <head>
        <script dangerouslySetInnerHTML={{ __html: stub }} />
        <script async src="http://127.0.0.1:8787/p/PIXEL_ID.js" />
      </head>
      <body>{children}</body>
    </html>
  )
}
