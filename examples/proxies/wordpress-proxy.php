<?php
/**
 * Plugin Name: Footfall proxy
 * Description: Publishes the pixel under the address of the site. Save as wp-content/mu-plugins/footfall-proxy.php.
 *
 * Choose a path of your own (openssl rand -hex 3). Then set FOOTFALL_SCRIPT of wordpress.php to
 * https://your-site.example/f3a9c2/p/PIXEL_ID.js. Start the collector with FOOTFALL_TRUSTED_PROXIES set to this server's address.
 */

const FOOTFALL_PATH      = '/f3a9c2';
const FOOTFALL_COLLECTOR = 'http://127.0.0.1:8787';

add_action( 'muplugins_loaded', function () {
	$uri    = explode( '?', $_SERVER['REQUEST_URI'], 2 );
	$routes = 'e|e\.gif|p/[^/%]+|v1/(?:track|page|screen|identify|group|alias|batch|[tpsigabm])';
	// Only what pages load and send to.
	if ( ! preg_match( '#^' . FOOTFALL_PATH . "(/(?:$routes))$#", $uri[0], $found ) ) {
		return;
	}
	$headers = array(
		'X-Forwarded-For'   => $_SERVER['REMOTE_ADDR'],
		'X-Forwarded-Proto' => is_ssl() ? 'https' : 'http',
	);
	foreach ( array( 'Authorization', 'Content-Type', 'Cookie', 'DNT', 'Origin', 'Referer', 'Sec-GPC', 'User-Agent' ) as $name ) {
		$key   = strtoupper( str_replace( '-', '_', $name ) );
		$value = $_SERVER[ "HTTP_$key" ] ?? $_SERVER[ $key ] ?? null;
		if ( null !== $value ) {
			$headers[ $name ] = $value;
		}
	}
	$answer = wp_remote_request(
		FOOTFALL_COLLECTOR . $found[1] . ( isset( $uri[1] ) ? "?$uri[1]" : '' ),
		array(
			'method'      => $_SERVER['REQUEST_METHOD'],
			'headers'     => $headers,
			'body'        => file_get_contents( 'php://input' ),
			'timeout'     => 5,
			'redirection' => 0,
		)
	);
	if ( is_wp_error( $answer ) ) {
		// The page sends its events again.
		status_header( 503 );
		exit;
	}
	status_header( wp_remote_retrieve_response_code( $answer ) );
	foreach ( array( 'content-type', 'cache-control', 'etag', 'retry-after', 'set-cookie' ) as $name ) {
		foreach ( (array) wp_remote_retrieve_header( $answer, $name ) as $value ) {
			if ( '' !== $value ) {
				header( "$name: $value", false );
			}
		}
	}
	echo wp_remote_retrieve_body( $answer );
	exit;
} );
