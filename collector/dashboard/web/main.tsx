import { render } from 'preact'
import { ApiError, messageOf } from './api.ts'
import { App } from './app.tsx'
import { toast } from './parts/toast.tsx'

// What a button asked for outside of a form, and did not get.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof ApiError)) return
  event.preventDefault()
  toast(messageOf(event.reason))
})

render(<App />, document.getElementById('app')!)
