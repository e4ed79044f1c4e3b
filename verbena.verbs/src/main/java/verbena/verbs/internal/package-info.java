/// The seams between Verbena's own modules: the layer of checks, waiting by system calls, and requests that only C
/// programs post. Programs and other providers use none of them.
package verbena.verbs.internal;
