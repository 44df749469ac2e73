import { StrictMode, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { Footfall } from './Footfall.jsx'

const titles = { '/': 'Vases', '/cart': 'Cart' }

/** The least that a router does. */
function usePath() {
  const subscribe = (changed) => {
    for (const type of ['popstate', 'navigated']) addEventListener(type, changed)
    return () => {
      for (const type of ['popstate', 'navigated']) removeEventListener(type, changed)
    }
  }
  return useSyncExternalStore(subscribe, () => location.pathname)
}

function Link({ to, children }) {
  const follow = (event) => {
    event.preventDefault()
    history.pushState({}, '', to)
    dispatchEvent(new Event('navigated'))
  }
  return (
    <a href={to} onClick={follow}>
      {children}
    </a>
  )
}

function App() {
  const title = titles[usePath()] ?? titles['/']
  const buy = () => window.footfall('track', 'added_to_cart', { sku: 'blue-vase' })
  return (
    <main>
      <title>{title}</title>
      <h1>{title}</h1>
      <nav>
        <Link to="/">Vases</Link> <Link to="/cart">Cart</Link>
      </nav>
      <button type="button" onClick={buy}>
        Add to cart
      </button>
    </main>
  )
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    {/* Your pixel's id, and your collector's address. */}
    <Footfall pixelId="PIXEL_ID" endpoint="http://127.0.0.1:8787/e" />
    <App />
  </StrictMode>,
)
