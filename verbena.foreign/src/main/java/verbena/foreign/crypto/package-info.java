/// Cryptography of the system: AES-GCM by libcrypto.
package verbena.foreign.crypto;
