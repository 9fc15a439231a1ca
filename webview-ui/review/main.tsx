import { render } from 'preact';
import type { ToHost, ToPage } from '../../src/window/reviewMessages.ts';
import { connect } from '../kit/messaging.ts';
import { ReviewPage } from './ReviewPage.tsx';
import '../kit/theme.css';
import './review.css';

const place = document.querySelector('#page');
if (place) render(<ReviewPage host={connect<ToPage, ToHost>()} />, place);
