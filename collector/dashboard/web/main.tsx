import { render } from 'preact'
import { ApiError, messageOf } from './api.ts'
import { App } from './app.tsx'
import { toast } from './components/toast.tsx'
import { requestFirstProject } from './firstProject.ts'
import { placeAt } from './routes.ts'

// Errors of buttons outside of forms.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof ApiError)) return
  event.preventDefault()
  toast(messageOf(event.reason))
})

// Loads the page during the request for the session, so that it appears one round trip sooner.
placeAt(location.pathname)?.place.page.preload()
requestFirstProject(location.pathname)
render(<App />, document.getElementById('app')!)
