import { Footfall } from 'footfall-pixel/next'

export default function RootLayout({ children }) {
  return (
    <html lang="en">
      <head>
        <Footfall src="https://collector.example/p/PIXEL_ID.js" />
      </head>
      <body>{children}</body>
    </html>
  )
}
