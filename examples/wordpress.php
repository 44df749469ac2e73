<?php
/**
 * Plugin Name: Footfall
 * Description: Puts the pixel into the head of every page. Save as wp-content/mu-plugins/footfall.php.
 */

// Your pixel's id in place of PIXEL_ID, and your collector's address in place of this one.
const FOOTFALL_SCRIPT = 'http://127.0.0.1:8787/p/PIXEL_ID.js';

add_action( 'wp_head', function () {
	// Previews and editors are no visits.
	if ( is_preview() || is_customize_preview() ) {
		return;
	}
	?>
<script>!function(w){(w.footfall||0).call||(w.footfall=function(){(w.footfall.q=w.footfall.q||[]).push(arguments)})}(window)</script>
<script async src="<?php echo esc_url( FOOTFALL_SCRIPT ); ?>"></script>
	<?php
}, 1 );
