// SPDX-License-Identifier: Apache-2.0
import { FlamePage } from "./page.js";

new FlamePage(document).start();
