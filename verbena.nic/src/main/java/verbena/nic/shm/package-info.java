/// Devices between processes of one host: the InfiniBand transport through memory that they share.
package verbena.nic.shm;
