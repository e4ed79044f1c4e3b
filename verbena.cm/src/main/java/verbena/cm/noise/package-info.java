/// How two ends agree on keys: the handshake Noise_XXpsk3_25519_AESGCM_SHA256 of the Noise Protocol Framework
/// (revision 34), without input and output.
package verbena.cm.noise;
