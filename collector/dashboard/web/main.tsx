import { render } from 'preact'
import { ApiError, messageOf } from './api.ts'
import { App } from './app.tsx'
import { toast } from './components/toast.tsx'
import { placeAt } from './routes.ts'

// What a button asked for outside of a form, and did not get.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof ApiError)) return
  event.preventDefault()
  toast(messageOf(event.reason))
})

// While the session is asked for: a page is shown sooner by one round trip.
placeAt(location.pathname)?.place.page.preload()
render(<App />, document.getElementById('app')!)
