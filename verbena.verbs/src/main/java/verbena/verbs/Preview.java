package verbena.verbs;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The mark of a part of the API that may change or disappear with any version. Unmarked parts stay, so a program
/// that compiles with this version compiles with the next. `docs/api/signatures.txt` lists the marked parts.
///
/// Three things may still be added: constants to an enum, subtypes to a sealed type, and methods to an interface that
/// Verbena alone implements. So give each `switch` a `default`. Programs implement only `Waitable`, `WaitSource`, the
/// handlers and observers of `verbena.messages`, and providers.
///
/// On the constructor of a record it says that the record may get further components. So change options with
/// the methods whose names begin with `with`, and do not take such a record apart with a pattern.
///
/// @since 0.1
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.CONSTRUCTOR, ElementType.FIELD})
public @interface Preview {}
